package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PUB;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.StressedSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;

/**
 * A socket, a message on its way to its event loop, and two for it. A PUB without subscribers is done with a message as
 * soon as its event loop has it. One send may wait in line. A listener for room tells each sender that is refused.
 */
public class StressedSender extends StressedSocket {

    private static final ZMTPSocketConfig[] PUBS = {limited(1), limited(2), limited(3)};

    /** Only a thread that is not woken waits so long. */
    private static final Duration LONG = Duration.ofSeconds(2);

    public final Senders senders = core.senders();
    public final Writability room = senders.writability();
    public final ZMTPMessage one = message("1");
    public final ZMTPMessage two = message("2");
    private volatile int told;

    /** A socket that accepts up to three messages. */
    public StressedSender(int limit) {
        super(PUBS[limit - 1]);
        room.listen(this::tell);
        loop.runTasks();
        trySend(message("0"));
    }

    private static ZMTPSocketConfig limited(int messages) {
        return ZMTPSocketConfig.builder(PUB)
                .sendQueueLimit(messages, 100)
                .overflowPolicy(OverflowPolicy.WAIT)
                .maxWaitingSends(1)
                .build();
    }

    public final boolean trySend(ZMTPMessage message) {
        boolean accepted = senders.trySend(message);
        if (!accepted) {
            message.release();
        }
        return accepted;
    }

    /** Sends, and waits for room. Returns "sent", or why the message was not. */
    public final String sendAndWait(ZMTPMessage message) {
        try {
            senders.blocking().send(message, LONG);
            return "sent";
        } catch (ZMTPSocketException e) {
            return e.reason().toString();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts it", e);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only the event loop does
    private void tell() {
        told++;
    }

    /** How often the listener was called. */
    public final int told() {
        return told;
    }

    /** What a sender knows at the end that was refused, or not, after the listener was called so often. */
    public final String fate(boolean accepted, int toldBefore) {
        if (accepted) {
            return "accepted";
        }
        return told > toldBefore ? "told" : "forgotten";
    }

    /** What is left when the event loop has nothing more to do. */
    public final String left() {
        loop.runTasks();
        return senders.waiting() + " left, room for " + senders.credit();
    }
}
