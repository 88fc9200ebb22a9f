package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Accepted messages that wait until all peers that should get them have room. On the event loop. */
final class BlockedSends implements MessageAges.Queue {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.BlockedSends");

    private final SocketContext context;

    /** The credit that has accepted the messages. */
    private final Credit credit;

    private final Deque<Sent.ToAny> messages = new ConsistentDeque<>();

    /** Routes a message. Returns false if it still has to wait. */
    private final Predicate<Sent.ToAny> route;

    BlockedSends(SocketContext context, Credit credit, Predicate<Sent.ToAny> route) {
        this.context = context;
        this.credit = credit;
        this.route = route;
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    int size() {
        return messages.size();
    }

    /** Routes a message after those that wait, or keeps it. */
    void add(Sent.ToAny message) {
        if (!messages.isEmpty() || !route.test(message)) {
            context.messageAges().added(this);
            try {
                messages.add(message);
            } catch (OutOfMemoryError e) {
                message.giveBack(credit);
                ReferenceCountUtil.safeRelease(message.message());
                throw e;
            }
        }
    }

    @Override
    public int dropOld(int most) {
        int left = most;
        while (left > 0
                && !messages.isEmpty()
                && context.isTooOld(messages.getFirst().since())) {
            left--;
            expire(messages.removeFirst());
        }
        if (left < most) {
            context.capacityFreed();
        }
        return most - left;
    }

    @Override
    public boolean hasMessages() {
        return !messages.isEmpty();
    }

    private void expire(Sent.ToAny late) {
        late.giveBack(credit);
        context.expire(late.message(), late.result());
    }

    /** Calls the action with each message that waits now. */
    void forEach(Consumer<ZMTPMessage> action) {
        for (Sent.ToAny each : List.copyOf(messages)) {
            try {
                action.accept(each.message());
            } catch (Throwable e) { // such as a message that was released, which does not concern the others
                logger.warn("A message was not sent to a subscriber that leaves", e);
            }
        }
    }

    /**
     * Routes up to this many messages, or drops those that are too old. Returns how many more could be routed, 0 if the
     * task is long, or -1 if the next still has to wait.
     */
    int serve(int most) {
        int left = most;
        while (left > 0) {
            Sent.ToAny next = messages.poll();
            if (next == null) {
                break;
            }
            if (context.isTooOld(next.since())) {
                expire(next);
            } else if (!route.test(next)) {
                messages.addFirst(next);
                return -1;
            }
            left = context.flushes().isTaskLong() ? 0 : left - 1;
        }
        return left;
    }

    Sent.@Nullable ToAny poll() {
        return messages.poll();
    }
}
