package dev.zmtp.codec.transports;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Both ends on one event loop, over a transport that delivers inside of our own flush. */
class LocalTransportTest {

    @SuppressWarnings("deprecation") // the group that Netty 4.1 knows, too
    private final Loopback net = new Loopback(
            new TestTransport.Kit(new DefaultEventLoopGroup(1), LocalChannel::new, LocalServerChannel::new, Map.of()),
            new LocalAddress("questions"));

    @AfterEach
    void stop() {
        net.close();
    }

    /** Writes when a message comes, and flushes when there are no more for now. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    /** Asks as soon as it may. */
    private static final class Client extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8("question"));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage message = (ZMTPMessage) msg;
            answers.add(message.toString());
            message.release();
        }
    }

    @Test
    void aQuestionThatArrivesInsideTheEndOfAHandshakeIsAnswered() throws InterruptedException {
        BlockingQueue<CompletableFuture<ZMTPAuthDecision>> undecided = new LinkedBlockingQueue<>();
        ZMTPConfig server = ZMTPConfig.builder()
                .socketType(ROUTER)
                .authenticator(request -> {
                    CompletableFuture<ZMTPAuthDecision> later = new CompletableFuture<>();
                    undecided.add(later);
                    return later;
                })
                .build();
        net.listen(ZMTPCodec.from(server), new Echo());
        Client client = new Client();
        net.connect(ZMTPCodec.of(DEALER), client);
        Loopback.await(undecided).complete(ZMTPAuthDecision.accept(""));
        assertThat(Loopback.await(client.answers)).isEqualTo("ZMTPMessage{[\"question\"]}");
    }
}
