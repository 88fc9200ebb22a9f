package dev.zmtp.internal.connection;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Hex;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A failed handshake of which no handler takes notice leaves a line. */
class UnheardFailureTest {

    private static final String LOGGER = "dev.zmtp.codec.UnheardFailure";
    private static final String PROBES = "dev.zmtp.codec.UnheardFailureTest";

    private static final ZMTPHandshakeFailure FAILURE = failure(new IllegalStateException("why"), false);

    private static ZMTPHandshakeFailure failure(Throwable cause, boolean silent) {
        ZMTPConfig config = ZMTPConfig.builder().socketType(ROUTER).build();
        return new ZMTPHandshakeFailure(ZMTPSession.from(config), cause, silent);
    }

    private static UnheardFailure handler() {
        RateLimitedLog log = log(LOGGER);
        return new UnheardFailure(cause -> log, log(PROBES));
    }

    private static RateLimitedLog log(String logger) {
        return new RateLimitedLog(InternalLoggerFactory.getInstance(logger), InternalLogLevel.INFO, () -> 0);
    }

    /** What is logged, but for probes, when {@code failure} is fired in a channel that was accepted, or not. */
    private static List<String> lines(ZMTPHandshakeFailure failure, boolean accepted) {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            Channel server = accepted ? new EmbeddedChannel() : null;
            EmbeddedChannel channel =
                    new EmbeddedChannel(server, DefaultChannelId.newInstance(), true, false, handler());
            channel.pipeline().fireUserEventTriggered(failure);
            return List.copyOf(log.lines);
        }
    }

    @Test
    void aHealthCheckThatOnlyConnectsIsNotLogged() {
        assertThat(lines(failure(new IOException("Connection reset by peer"), true), true))
                .isEmpty();
        assertThat(lines(failure(new ZMTPException(ZMTPException.Code.CLOSED, "ended"), true), true))
                .isEmpty();
    }

    @Test
    void probesHaveALogOfTheirOwn() {
        try (CapturedLog log = new CapturedLog(PROBES)) {
            assertThat(lines(failure(new IOException("Connection reset by peer"), true), true))
                    .isEmpty();
            assertThat(log.lines).hasSize(1);
        }
    }

    @Test
    void aPeerThatHasSaidSomethingIsLogged() {
        assertThat(lines(failure(new IOException("Connection reset by peer"), false), true))
                .hasSize(1);
    }

    @Test
    void aPeerThatSaysNothingUntilTheTimeoutIsLogged() {
        Throwable timeout = new ZMTPException(ZMTPException.Code.HANDSHAKE_TIMEOUT, "30 s");
        assertThat(lines(failure(timeout, true), true)).hasSize(1);
    }

    @Test
    void aServerThatSaysNothingIsLoggedByItsClient() {
        assertThat(lines(failure(new IOException("Connection reset by peer"), true), false))
                .hasSize(1);
    }

    @Test
    void aFailureThatAllHandlersPassOnIsLoggedWithItsCause() {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter(), handler());
            channel.pipeline().fireUserEventTriggered(FAILURE);

            assertThat(log.lines).singleElement().isEqualTo(FAILURE + " was taken by no handler");
            assertThat(log.traces).isEmpty();
        }
    }

    @Test
    void aFailureThatAHandlerTakesIsNotLogged() {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
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
    void aFailureOfOneKindDoesNotSuppressAnother() {
        RateLimitedLog malformed = UnheardFailure.logOf(ZMTPException.of(Code.MALFORMED, "x", 1, "2"));

        assertThat(UnheardFailure.logOf(ZMTPException.of(Code.MALFORMED, "y", 3, "4")))
                .isSameAs(malformed);
        assertThat(UnheardFailure.logOf(ZMTPException.of(Code.AUTHENTICATION, "x", 1, "2")))
                .isNotSameAs(malformed);
        assertThat(UnheardFailure.logOf(new IOException("reset"))).isNotSameAs(malformed);
    }

    @Test
    void anotherEventIsNotLogged() {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            new EmbeddedChannel(handler()).pipeline().fireUserEventTriggered("another");

            assertThat(log.lines).isEmpty();
        }
    }

    /** There is a line a second at most, and other tests may have had that of this second. */
    @Test
    void theCodecListensWhereItsHandshakeFails() {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
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
