package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.socket.receive.HandlerSink;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Polled;
import dev.zmtp.internal.socket.receive.Received;
import dev.zmtp.internal.socket.receive.ReceivedFrom;
import dev.zmtp.internal.socket.request.Places;
import dev.zmtp.internal.socket.request.Requests;
import dev.zmtp.internal.socket.request.Serving;
import dev.zmtp.internal.socket.request.StrictReply;
import dev.zmtp.internal.socket.request.StrictRequest;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPReceived;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The uses of messages, which are to send, to receive, to make requests and to serve them. A REQ and a REP send and
 * receive in turn (RFC 28), all others at any time. The caller has checked that the type supports the call.
 */
public final class Exchange {

    private final SocketContext context;
    private final Senders senders;
    private final Inbox inbox;
    private final Requests requests;
    private final StrictRequest request;
    private final StrictReply reply;
    private final Places places;
    private final Runnable whenAsking;

    /** True if a request has been made. Each of several threads can be the first. */
    private boolean asks;

    /** Calls {@code whenAsking} on the event loop before the first request. */
    Exchange(SocketContext context, Senders senders, Inbox inbox, Requests requests, Runnable whenAsking) {
        this.context = context;
        this.senders = senders;
        this.inbox = inbox;
        this.requests = requests;
        this.request = new StrictRequest(context, senders, requests);
        this.reply = new StrictReply(context, senders, inbox);
        this.places = new Places(context);
        this.whenAsking = whenAsking;
        if (context.type() == ZMTPSocketType.REQ) {
            senders.writability().sendsWhen(request::maySend);
        } else if (context.type() == ZMTPSocketType.REP) {
            senders.writability().sendsWhen(reply::maySend);
        } else if (!TypeRules.sends(context.type())) {
            senders.writability().sendsWhen(() -> false);
        }
    }

    /** Takes ownership of the message. Fails if the maximum number of sends already waits for room. */
    public CompletableFuture<Void> send(ZMTPMessage message) {
        return switch (context.type()) {
            case REQ -> request.send(message);
            case REP -> reply.send(message);
            default -> senders.send(message, context.config().maxWaitingSends());
        };
    }

    /**
     * Takes ownership of the message, and waits for room. A REQ has room whenever it is its turn to send.
     *
     * @param timeout null for no limit
     */
    public void sendAndWait(ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException {
        switch (context.type()) {
            case REQ -> request.sendAndForget(message);
            case REP -> reply.sendAndWait(message, timeout);
            default -> senders.blocking().send(message, timeout);
        }
    }

    /** Returns true if the message was accepted; otherwise the message still belongs to the caller. */
    public boolean trySend(ZMTPMessage message) {
        return switch (context.type()) {
            case REQ -> isReachable() && tryRequest(message);
            case REP -> isOpen() && reply.trySend(message);
            default -> senders.trySend(message);
        };
    }

    /** Takes ownership of the message, and drops it if it is not accepted now. */
    public void sendOrDrop(ZMTPMessage message) {
        boolean taken = context.type() == ZMTPSocketType.REQ ? tryRequest(message) : trySend(message);
        if (!taken) {
            context.tally().dropped();
            ReferenceCountUtil.safeRelease(message);
            if (isOpen()) {
                context.drops().droppedAnywhere(null, senders.isReachable() ? DropReason.FULL : DropReason.NO_PEER);
            }
        }
    }

    /** A message that a REQ sends in its turn can wait for its first peer. */
    private boolean tryRequest(ZMTPMessage message) {
        return isOpen() && request.maySend() && request.trySend(message);
    }

    /** Returns whether there is a peer, or a peer is expected. If not, listeners are called when there is. */
    private boolean isReachable() {
        return senders.isReachable() || senders.writability().isOpen();
    }

    private boolean isOpen() {
        return !context.isClosed();
    }

    /** Sends a request, which it takes ownership of, and returns its answer. */
    public CompletableFuture<ZMTPMessage> request(ZMTPMessage message, Duration timeout) {
        if (!asks) {
            asks = true;
            context.executeHere(whenAsking);
        }
        return requests.ask(message, timeout);
    }

    /** Passes all messages to the handler. */
    public ZMTPRegistration onMessage(BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler) {
        return inbox.register(new HandlerSink(handler));
    }

    /** Passes all requests to the handler, and its answers back. */
    public ZMTPRegistration serve(Consumer<? super ZMTPRequest> handler) {
        return inbox.register(new Serving(context, inbox, senders.directly(), places, handler));
    }

    /** Waits for a message, without limit if there is no timeout. Returns null if none has arrived. */
    public @Nullable ZMTPMessage receiveAndWait(@Nullable Duration timeout) throws InterruptedException {
        return switch (context.type()) {
            case REQ, REP -> Waiting.receive(receive(), timeout);
            default -> inbox.await(timeout == null ? Long.MAX_VALUE : Settings.nanos(timeout));
        };
    }

    public CompletableFuture<ZMTPMessage> receive() {
        switch (context.type()) {
            case REQ -> {
                return request.receive();
            }
            case REP -> {
                return reply.receive();
            }
            default -> {
                Received received = new Received(context, inbox);
                inbox.take(received);
                return received;
            }
        }
    }

    /** Returns the message that {@link #receive} would return now; null if it would wait. */
    public @Nullable ZMTPMessage tryReceive() {
        return switch (context.type()) {
            case REQ -> request.tryReceive();
            case REP -> reply.tryReceive();
            default -> Polled.pollNamed(context, inbox);
        };
    }

    /** Returns a message and its peer. Not for a REQ or REP. */
    public CompletableFuture<ZMTPReceived> receiveFrom() {
        ReceivedFrom received = new ReceivedFrom(context, inbox);
        inbox.take(received);
        return received;
    }

    /** Called when the socket stops accepting messages. */
    void close() {
        request.close();
    }
}
