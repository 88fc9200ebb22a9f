package dev.zmtp.attack;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** The messages that honest peers exchange with the server: a topic, and the time at which it was sent. */
final class Ticks {

    /** What honest subscribers subscribe to. */
    static final String TOPIC = "tick";

    private static final int LENGTH = 64;

    /** Messages that a publisher publishes at one time, and the pause after that. */
    private static final int BURST = 10;

    private static final long PAUSE_NANOS = 2_000_000;

    private Ticks() {}

    private static ZMTPMessage now() {
        return message(frame());
    }

    /** A message of this moment, as this service wants it. */
    static ZMTPMessage now(Service service) {
        return service.hasDelimiter()
                ? ZMTPMessage.from(List.of(Unpooled.EMPTY_BUFFER, Unpooled.wrappedBuffer(frame())))
                : now();
    }

    /** A message of this frame. */
    static ZMTPMessage message(byte[] frame) {
        return ZMTPMessage.from(Unpooled.wrappedBuffer(frame));
    }

    private static byte[] frame() {
        ByteBuffer frame = ByteBuffer.allocate(LENGTH).put(TOPIC.getBytes(StandardCharsets.US_ASCII));
        frame.putLong(System.nanoTime()); // the same clock in all processes of a machine
        return frame.array();
    }

    /** How long ago {@code message} was sent, in nanoseconds. */
    static long age(ZMTPMessage message) {
        ByteBuf frame = message.frame(message.size() - 1);
        return System.nanoTime() - frame.getLong(frame.readerIndex() + TOPIC.length());
    }

    /** Publishes 5,000 messages a second for ever; fewer if publishing takes long. */
    static void publish(Consumer<byte[]> publisher) {
        while (true) {
            for (int i = 0; i < BURST; i++) {
                publisher.accept(frame());
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
