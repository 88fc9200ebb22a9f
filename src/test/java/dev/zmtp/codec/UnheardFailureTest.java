package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Hex;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A failed handshake of which no handler takes notice leaves a line. */
class UnheardFailureTest {

    private static final ZMTPHandshakeFailure FAILURE = new ZMTPHandshakeFailure(
            ZMTPSession.from(ZMTPConfig.builder().socketType(ROUTER).build()), new IllegalStateException("why"));

    private static UnheardFailure handler() {
        return new UnheardFailure(new RateLimitedLog(
                InternalLoggerFactory.getInstance(UnheardFailure.class), InternalLogLevel.INFO, () -> 0));
    }

    @Test
    void aFailureThatAllHandlersPassOnIsLoggedWithItsCause() {
        try (CapturedLog log = new CapturedLog(UnheardFailure.class.getName())) {
            EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter(), handler());
            channel.pipeline().fireUserEventTriggered(FAILURE);

            assertThat(log.lines).singleElement().isEqualTo(FAILURE + " was taken by no handler");
            assertThat(log.traces).isEmpty();
        }
    }

    @Test
    void aFailureThatAHandlerTakesIsNotLogged() {
        try (CapturedLog log = new CapturedLog(UnheardFailure.class.getName())) {
            EmbeddedChannel channel = new EmbeddedChannel(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {}
                    },
                    handler());
            channel.pipeline().fireUserEventTriggered(FAILURE);

            assertThat(log.lines).isEmpty();
        }
    }

    @Test
    void anotherEventIsNotLogged() {
        try (CapturedLog log = new CapturedLog(UnheardFailure.class.getName())) {
            new EmbeddedChannel(handler()).pipeline().fireUserEventTriggered("another");

            assertThat(log.lines).isEmpty();
        }
    }

    /** There is a line a second at most, and other tests may have had that of this second. */
    @Test
    void theCodecListensWhereItsHandshakeFails() {
        try (CapturedLog log = new CapturedLog(UnheardFailure.class.getName())) {
            long begin = System.nanoTime();
            while (log.lines.isEmpty()
                    && System.nanoTime() - begin < Duration.ofSeconds(30).toNanos()) {
                EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(ROUTER));
                channel.writeInbound(Hex.buffer(GREETING + ready("PULL")));
                channel.finishAndReleaseAll();
            }

            assertThat(log.lines)
                    .first()
                    .asString()
                    .startsWith("ZMTPHandshakeFailure{socketType=ROUTER")
                    .contains("PULL")
                    .contains(" was taken by no handler");
        }
    }
}
