package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.StressedSocket;
import dev.zmtp.internal.socket.peer.Inbound;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A PULL with a queue for two messages, and a peer of it. */
public class StressedReceiver extends StressedSocket {

    private static final ZMTPSocketConfig CONFIG =
            ZMTPSocketConfig.builder(PULL).receiveQueueLimit(2, 100).build();

    /** Only a thread that is not woken waits so long. */
    static final long LONG = TimeUnit.SECONDS.toNanos(2);

    public final Inbox inbox = core.inbox();
    public final Peer peer = core.newPeer(null);

    public StressedReceiver() {
        super(CONFIG);
    }

    /** Lets the event loop deliver the message when it turns. */
    public final void arrives(String text) {
        loop.execute(() -> inbox.deliver(peer, message(text)));
    }

    /** As {@link #arrives}, in a read. */
    public final void arrivesByRead(String text) {
        loop.execute(() -> {
            inbox.deliver(peer, message(text));
            inbox.readComplete();
        });
    }

    /** Waits so many nanoseconds. Returns the message, "none", or why there is none. */
    public final String await(long nanos) {
        try {
            ZMTPMessage received = inbox.await(nanos);
            return received == null ? "none" : text(received);
        } catch (ZMTPSocketException e) {
            return e.reason().toString();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts it", e);
        }
    }

    /** Begins to receive, which does not wait. */
    public final Received receive() {
        Received received = new Received(core.context(), inbox);
        inbox.take(received);
        return received;
    }

    /** Returns what was received, or why nothing was. */
    public final String text(CompletableFuture<ZMTPMessage> received) {
        if (received.isCancelled()) {
            return "cancelled";
        }
        if (received.isCompletedExceptionally()) {
            return "failed";
        }
        return received.isDone() ? text(received.join()) : "waits";
    }

    public static String text(ZMTPMessage message) {
        String text = message.frame(0).toString(StandardCharsets.UTF_8);
        message.release();
        return text;
    }

    /** Returns what is still there when the event loop has nothing more to do. */
    public final String left() {
        loop.runTasks();
        Inbound its = peer.inbound();
        StringBuilder left = new StringBuilder();
        its.messages.forEach(message -> left.append(text(message)));
        return its.bytes == left.length() ? left.toString() : left + " counted as " + its.bytes;
    }
}
