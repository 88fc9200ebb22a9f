package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBufAllocator;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** The numbered messages that one thread sends by a socket, in all the ways there are. */
final class SentStream {

    /** A way to send. */
    enum Form {
        TRY,
        FUTURE,
        CANCELLED_FUTURE,
        WAIT,
        INTERRUPTED_WAIT
    }

    /** The forms in which a message that does not arrive is known to have been refused. */
    static final List<Form> TELLING = List.of(Form.TRY, Form.FUTURE, Form.WAIT, Form.INTERRUPTED_WAIT);

    static final List<Form> ALL = List.of(Form.values());

    private static final int MAX_WAIT_MILLIS = 20;

    private final long stream;
    private final SentMessages sent;
    private final ByteBufAllocator alloc;
    private final Random random;
    private long next;

    SentStream(long stream, SentMessages sent, ByteBufAllocator alloc, Random random) {
        this.stream = stream;
        this.sent = sent;
        this.alloc = alloc;
        this.random = random;
        sent.began(stream);
    }

    /** Sends the next message with a future if there is room. Returns whether the message was sent. */
    boolean sendWithFuture(ZMTPSocket socket) {
        return socket.isWritable() && send(socket, Form.FUTURE);
    }

    /** Sends the next message in any of these forms. Returns false if it comes again, because there was no room. */
    boolean send(ZMTPSocket socket, List<Form> forms) {
        return send(socket, forms.get(random.nextInt(forms.size())));
    }

    private boolean send(ZMTPSocket socket, Form form) {
        ZMTPMessage message = new Numbered(stream, next, false).toMessage(alloc, random);
        switch (form) {
            case TRY -> {
                if (!socket.trySend(message)) {
                    message.release();
                    return false;
                }
                sent.untold();
            }
            case FUTURE -> sent.told(socket.sendAsync(message));
            case CANCELLED_FUTURE -> {
                sent.untold();
                socket.sendAsync(message).cancel(false); // which has no effect
            }
            case WAIT, INTERRUPTED_WAIT -> sendAndWait(socket, message, form == Form.INTERRUPTED_WAIT);
        }
        next++;
        return true;
    }

    private void sendAndWait(ZMTPSocket socket, ZMTPMessage message, boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            socket.send(message, Duration.ofMillis(1 + random.nextInt(MAX_WAIT_MILLIS)));
            sent.untold();
        } catch (InterruptedException | ZMTPSocketException e) {
            sent.refused();
        } finally {
            Thread.interrupted();
        }
    }

    /** Returns the next message, for a request. */
    ZMTPMessage next() {
        return new Numbered(stream, next++, false).toMessage(alloc, random);
    }

    long stream() {
        return stream;
    }

    /** Returns the number of the message that {@link #next()} has returned. */
    long lastNumber() {
        return next - 1;
    }
}
