package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The last handler of a pipeline whose handshake fails. It logs a {@link ZMTPHandshakeFailure} that all handlers have
 * passed on. Netty drops such an event silently, so a program without a handler for it would never report why no
 * message arrives. A health check that only connects causes just a line at DEBUG.
 */
final class UnheardFailure extends ChannelInboundHandlerAdapter {

    /** The logs of failures by their code, so that scanners do not suppress a failed login. */
    private static final Map<Code, RateLimitedLog> LOGS = logs();

    /** Log of failures without a code, such as those of TLS and of the network. */
    private static final RateLimitedLog OTHERS = log(InternalLogLevel.INFO);

    private static final RateLimitedLog PROBES = log(InternalLogLevel.DEBUG);

    private final Function<Throwable, RateLimitedLog> logs;
    private final RateLimitedLog probes;

    UnheardFailure(Function<Throwable, RateLimitedLog> logs, RateLimitedLog probes) {
        this.logs = logs;
        this.probes = probes;
    }

    private static Map<Code, RateLimitedLog> logs() {
        Map<Code, RateLimitedLog> logs = new EnumMap<>(Code.class);
        for (Code code : Code.values()) {
            logs.put(code, log(InternalLogLevel.INFO));
        }
        return logs;
    }

    static RateLimitedLog logOf(Throwable cause) {
        return cause instanceof ZMTPException known ? LOGS.getOrDefault(known.code(), OTHERS) : OTHERS;
    }

    private static RateLimitedLog log(InternalLogLevel level) {
        return new RateLimitedLog(
                InternalLoggerFactory.getInstance("dev.zmtp.codec.UnheardFailure"), level, System::nanoTime);
    }

    /**
     * Adds the handler at the end of {@code pipeline}, where the failure is about to be fired. Returns the pipeline.
     */
    static ChannelPipeline listen(ChannelPipeline pipeline) {
        return pipeline.addLast(new UnheardFailure(UnheardFailure::logOf, PROBES));
    }

    /** Fires {@code failure} from the head of {@code pipeline}, after adding the handler at its end. */
    static void fire(ChannelPipeline pipeline, ZMTPHandshakeFailure failure) {
        listen(pipeline).fireUserEventTriggered(failure);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeFailure failure) {
            RateLimitedLog choice = isProbe(ctx, failure) ? probes : logs.apply(failure.cause());
            choice.log(event, "was taken by no handler", null);
        }
        ctx.fireUserEventTriggered(event);
    }

    /** Returns whether this is most likely a health check, which connects every few seconds and sends nothing. */
    private static boolean isProbe(ChannelHandlerContext ctx, ZMTPHandshakeFailure failure) {
        Throwable cause = failure.cause();
        boolean waited = TlsPeer.isTimeout(cause)
                || (cause instanceof ZMTPException known && known.code() == Code.HANDSHAKE_TIMEOUT);
        return failure.silent() && !waited && ctx.channel().parent() != null;
    }
}
