package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a handler behind the codec throws is the application's affair, and the connection goes on. */
class ThrowingUserTest {

    private final RuntimeException thrown = new IllegalStateException("the user's own");

    private void assertGoesOn(InTraffic traffic) {
        traffic.sent();
        traffic.receive("00 01 61 / 04 07 04 \"PING\" 00 00 / 01 01 62 / 00 01 63");
        ChannelFuture written = traffic.channel.writeAndFlush(ZMTPMessage.fromUTF8("d"));
        assertThat(traffic.heard).containsExactly("message 61", "message 62 63");
        assertThat(written.isSuccess()).isTrue();
        assertThat(traffic.sent()).isEqualTo(Hex.of("04 05 04 \"PONG\" / 00 01 64"));
        assertThat(traffic.channel.isActive()).isTrue();
    }

    @Test
    void throwingAtTheHandshakeEventEndsNothing() {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                        throw thrown;
                    }
                })
                .start()) {
            assertGoesOn(traffic);
            assertThat(traffic.failures).containsExactly(thrown);
        }
    }

    @Test
    void throwingInTheMidstOfAWriteTearsNothing() {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        throw thrown;
                    }
                })
                .start()) {
            traffic.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            ChannelFuture written = traffic.write(ZMTPMessage.from(Hex.buffer("61*5000"), Hex.buffer("62")));
            traffic.channel.flush();
            assertThat(written.isSuccess()).isTrue();
            assertThat(traffic.sent()).isEqualTo(Hex.of("03 00*6 13 88 61*5000 / 00 01 62"));
            assertThat(traffic.failures).isNotEmpty().containsOnly(thrown);
            traffic.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1000, 2000));
            assertGoesOn(traffic);
        }
    }

    @Test
    void throwingInAListenerKeepsNoOtherPromiseFromItsEnd() {
        try (InTraffic traffic = InTraffic.as(DEALER).start()) {
            ChannelFuture first = traffic.writeText("a").addListener(done -> {
                throw thrown;
            });
            ChannelFuture second = traffic.writeText("b");
            traffic.channel.flush();
            assertThat(List.of(first, second)).allMatch(ChannelFuture::isSuccess);
            assertGoesOn(traffic);
        }
    }

    @Test
    void throwingAtTheEndOfAReadKeepsNoPongBack() {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelReadComplete(ChannelHandlerContext ctx) {
                        throw thrown;
                    }
                })
                .start()) {
            traffic.failures.clear(); // of the read of the handshake
            assertGoesOn(traffic);
            assertThat(traffic.failures).containsExactly(thrown);
        }
    }
}
