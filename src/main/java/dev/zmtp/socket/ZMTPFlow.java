package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import java.util.Objects;
import java.util.concurrent.Flow;

/**
 * Adapters that connect a {@link ZMTPSocket} to {@link Flow}, and so to every library of Reactive Streams.
 *
 * <pre>{@code
 *   ZMTPFlow.messages(pull).subscribe(ZMTPFlow.sender(push)); // as fast as the push socket accepts messages
 * }</pre>
 *
 * <p>Messages are like those of {@link ZMTPSocket#receive()} and {@link ZMTPSocket#sendAsync}, so with ROUTER, SERVER
 * and PEER they begin with the routing id of the peer. REQ and REP are not supported, because they send and receive in
 * turn. Neither adapter closes the socket.
 */
public final class ZMTPFlow {

    private ZMTPFlow() {}

    /**
     * Returns a publisher of the messages that the socket receives. The demand is the back pressure: without it,
     * nothing is taken from the socket, which then reads no more than
     * {@link ZMTPSocketConfig#receiveQueueLimitMessages()} of each peer.
     *
     * <p><b>Threads.</b> All signals come from the event loop of the socket, one after the other, so a subscriber must
     * not block. Once that event loop has ended, they come from the calling thread. The subscription can be used from
     * any thread.
     *
     * <p><b>Ownership.</b> The subscriber releases each message. A cancelled subscription takes no more messages, and
     * they remain in the socket for the next receiver. Like any subscriber, it may still get a message that was taken
     * when another thread cancelled, and has to release it. After a cancel on the event loop there is none.
     *
     * <p><b>The end.</b> The publisher completes when the socket is closed, and messages that were not taken by then
     * are released. It fails with {@link ZMTPSocketException.Reason#ILLEGAL_STATE} if there is demand while a handler
     * receives the messages.
     *
     * <p><b>Subscribers.</b> A publisher has a single subscriber at a time, and further subscribers fail with an
     * {@link IllegalStateException}. When a subscription has ended, another subscriber can follow. If a socket has
     * several publishers or other calls that receive, each message goes to only one of them. If the subscriber throws
     * an exception, it is logged, and the subscription is cancelled.
     *
     * @throws UnsupportedOperationException if the socket does not receive, or is a REQ or REP
     */
    public static Flow.Publisher<ZMTPMessage> messages(ZMTPSocket socket) {
        ZMTPSocketType type = Objects.requireNonNull(socket, "socket").socketType();
        check("messages", type, receives(type), "receives");
        return new MessagePublisher(socket);
    }

    /**
     * Returns a subscriber that sends each message with {@link ZMTPSocket#sendAsync}. It requests 16 messages at first,
     * and another message whenever a future of {@code sendAsync} completes, so at most 16 messages are on their way.
     *
     * <p><b>Failures.</b> If a message cannot be sent for any {@linkplain ZMTPSocketException.Reason reason}, the
     * subscription is cancelled, the failure is logged unless the socket is closed, and messages that still arrive are
     * released. With ROUTER, SERVER and PEER, where no sends wait, a message for a peer that has left or whose queue is
     * full is such a failure, and so is a message that a newer message replaced, with an overflow policy that drops old
     * messages. Otherwise, {@link ZMTPSocketConfig#maxWaitingSends()} should be at least 16 for each subscriber that
     * sends with the socket.
     *
     * <p><b>The end.</b> After {@link Flow.Subscriber#onComplete} or {@link Flow.Subscriber#onError}, messages that are
     * on their way are still sent, and the socket remains open. A subscriber can be used for a single subscription.
     *
     * <p><b>Threads.</b> The subscriber can be called from any thread and does not block. It requests messages on the
     * thread that calls it or on the event loop of the socket.
     *
     * @throws UnsupportedOperationException if the socket does not send, or is a REQ or REP
     */
    public static Flow.Subscriber<ZMTPMessage> sender(ZMTPSocket socket) {
        ZMTPSocketType type = Objects.requireNonNull(socket, "socket").socketType();
        check("sender", type, sends(type), "sends");
        return new MessageSender(socket);
    }

    private static boolean receives(ZMTPSocketType type) {
        return switch (type) {
            case PUSH, SCATTER, PUB, RADIO, REQ, REP -> false;
            default -> true;
        };
    }

    private static boolean sends(ZMTPSocketType type) {
        return switch (type) {
            case PULL, GATHER, SUB, DISH, REQ, REP -> false;
            default -> true;
        };
    }

    private static void check(String method, ZMTPSocketType type, boolean holds, String does) {
        if (!holds) {
            throw new UnsupportedOperationException(
                    method + ": not with " + type + " (expected: a type that " + does + ", not REQ or REP)");
        }
    }
}
