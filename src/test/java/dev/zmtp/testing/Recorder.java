package dev.zmtp.testing;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The last handler of a pipeline, which keeps, in order, all that was fired. Any thread may read its lists.
 *
 * @param <T> what is kept of a message
 */
public final class Recorder<T> extends ChannelInboundHandlerAdapter {

    /** User events. */
    public final List<Object> events = new AppendedList<>();
    /** What is kept of the messages. */
    public final List<T> messages = new AppendedList<>();
    /** What came to exceptionCaught. */
    public final List<Throwable> failures = new AppendedList<>();
    /** Events, messages and failures, in the order in which they came. */
    public final List<Object> all = new AppendedList<>();

    private final Function<Object, T> kept;

    /** Keeps what {@code kept} returns for each message. The function, or the test, has to release the message. */
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

    /** Keeps the hex dump of each buffer, as a peer receives it that knows no ZMTP, and releases the buffer. */
    public static Recorder<String> ofBytes() {
        return new Recorder<>(message -> Hex.dump((ByteBuf) message));
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

    /** All messages in one string. */
    public String joined() {
        return messages.stream().map(String::valueOf).collect(Collectors.joining());
    }
}
