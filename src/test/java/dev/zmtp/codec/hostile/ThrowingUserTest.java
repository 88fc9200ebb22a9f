package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An exception of a handler after the codec is the application's own, and the connection continues. */
class ThrowingUserTest {

    private final RuntimeException thrown = new IllegalStateException("the user's own");

    private void assertGoesOn(ScriptedPeer peer) {
        peer.received();
        peer.send("00 01 61 / 04 07 04 \"PING\" 00 00 / 01 01 62 / 00 01 63");
        ChannelFuture written = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("d"));
        assertThat(peer.messages).containsExactly("message 61", "message 62 63");
        assertThat(written.isSuccess()).isTrue();
        assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\" / 00 01 64"));
        assertThat(peer.channel.isActive()).isTrue();
    }

    @Test
    void throwingAtTheHandshakeEventEndsNothing() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                        throw thrown;
                    }
                })
                .start()) {
            assertGoesOn(peer);
            assertThat(peer.failures).containsExactly(thrown);
        }
    }

    @Test
    void throwingDuringAWriteSplitsNoMessage() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        throw thrown;
                    }
                })
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            ChannelFuture written = peer.channel.write(ZMTPMessage.from(Hex.buffer("61*5000"), Hex.buffer("62")));
            peer.channel.flush();
            assertThat(written.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("03 00*6 13 88 61*5000 / 00 01 62"));
            assertThat(peer.failures).isNotEmpty().containsOnly(thrown);
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1000, 2000));
            assertGoesOn(peer);
        }
    }

    @Test
    void throwingInAListenerDoesNotAffectOtherPromises() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelFuture first = peer.channel.write(ZMTPMessage.fromUTF8("a")).addListener(done -> {
                throw thrown;
            });
            ChannelFuture second = peer.channel.write(ZMTPMessage.fromUTF8("b"));
            peer.channel.flush();
            assertThat(List.of(first, second)).allMatch(ChannelFuture::isSuccess);
            assertGoesOn(peer);
        }
    }

    @Test
    void throwingAtTheEndOfAReadDelaysNoPong() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelReadComplete(ChannelHandlerContext ctx) {
                        throw thrown;
                    }
                })
                .start()) {
            peer.failures.clear(); // of the read of the handshake
            assertGoesOn(peer);
            assertThat(peer.failures).containsExactly(thrown);
        }
    }
}
