package dev.zmtp.testing;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Stands after a codec and keeps, in order, all that it fires.
 *
 * @param <T> what is kept of a message
 */
public final class Recorder<T> extends ChannelInboundHandlerAdapter {

    /** User events. */
    public final List<Object> events = new ArrayList<>();
    /** What is kept of the messages. */
    public final List<T> messages = new ArrayList<>();
    /** What came to exceptionCaught. */
    public final List<Throwable> failures = new ArrayList<>();
    /** Events, messages and failures, in the order in which they came. */
    public final List<Object> all = new ArrayList<>();

    private final Function<Object, T> kept;

    /** Keeps {@code kept} of each message, which is the function's to release, or the test's. */
    public Recorder(Function<Object, T> kept) {
        this.kept = kept;
    }

    /** Keeps messages as {@link Fired} describes them, and releases them. */
    public static Recorder<String> ofDescriptions() {
        return new Recorder<>(Fired::describeAndRelease);
    }

    /** Keeps the messages themselves, which are the test's to release. */
    public static Recorder<Object> ofAll() {
        return new Recorder<>(message -> message);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        T message = kept.apply(msg);
        messages.add(message);
        all.add(message);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        events.add(evt);
        all.add(evt);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        failures.add(cause);
        all.add(cause);
    }
}
