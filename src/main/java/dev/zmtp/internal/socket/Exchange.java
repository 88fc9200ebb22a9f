package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import java.util.concurrent.CompletableFuture;

/**
 * Sends and receives single messages as the type of the socket does: a REQ and a REP by turns (RFC 28), all others at
 * any time. The caller has checked that the type sends or receives.
 */
public final class Exchange {

    private final SocketCore core;
    private final StrictRequest request;
    private final StrictReply reply;

    public Exchange(SocketCore core) {
        this.core = core;
        this.request = new StrictRequest(core);
        this.reply = new StrictReply(core);
        if (core.type() == ZMTPSocketType.REQ) {
            core.senders().roomForMessages().sendsWhen(request::maySend);
        } else if (core.type() == ZMTPSocketType.REP) {
            core.senders().roomForMessages().sendsWhen(reply::maySend);
        }
    }

    /** Takes the message over. If as many others wait for room as may, it fails. */
    public CompletableFuture<Void> send(ZMTPMessage message) {
        return send(message, core.config().maxWaitingSends());
    }

    /** As {@link #send}, for a thread that waits for it: of those there are only so many. */
    public CompletableFuture<Void> sendAndWait(ZMTPMessage message) {
        return send(message, Integer.MAX_VALUE);
    }

    private CompletableFuture<Void> send(ZMTPMessage message, int most) {
        return switch (core.type()) {
            case REQ -> request.send(message);
            case REP -> reply.send(message);
            default -> core.senders().send(message, most);
        };
    }

    /** Returns whether the message was taken; otherwise it still belongs to the caller. */
    public boolean trySend(ZMTPMessage message) {
        return switch (core.type()) {
            case REQ -> isOpen() && request.maySend() && accepted(request.send(message));
            case REP -> isOpen() && reply.maySend() && accepted(reply.send(message));
            default -> core.senders().trySend(message);
        };
    }

    private boolean isOpen() {
        return !core.senders().isClosed();
    }

    private static boolean accepted(CompletableFuture<Void> ignored) {
        return true;
    }

    public CompletableFuture<ZMTPMessage> receive() {
        switch (core.type()) {
            case REQ -> {
                return request.receive();
            }
            case REP -> {
                return reply.receive();
            }
            default -> {
                Received received = new Received(core);
                core.inbox().take(received);
                return received;
            }
        }
    }

    /** Called when the socket accepts nothing more. */
    public void close() {
        request.close();
    }
}
