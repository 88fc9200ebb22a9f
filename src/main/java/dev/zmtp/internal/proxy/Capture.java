package dev.zmtp.internal.proxy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.endpoint.InprocHandler;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPRegistration;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.atomic.LongAdder;

/** A socket that receives a copy of all messages that pass a proxy. Used on the event loops of both sides. */
public final class Capture {

    private final SocketContext context;
    private final Senders senders;
    private final boolean everything;
    private final LongAdder captured = new LongAdder();
    private final LongAdder dropped = new LongAdder();

    public Capture(ProxyEnd socket, boolean everything) {
        this.context = socket.context();
        this.senders = socket.senders();
        this.everything = everything;
    }

    /** Calls the listener when a refused copy can be accepted, if the traffic waits for that. */
    ZMTPRegistration onCapacity(Runnable listener) {
        return everything ? senders.writability().listen(listener) : () -> {};
    }

    /**
     * Offers a copy whose frames share the bytes. The caller retains ownership of the message.
     *
     * @return whether the message can be forwarded
     */
    @CheckReturnValue
    boolean offer(ZMTPMessage message) {
        ZMTPMessage copy = InprocHandler.duplicate(message);
        if (senders.trySend(copy)) {
            captured.increment();
            return true;
        }
        ReferenceCountUtil.safeRelease(copy);
        if (everything) {
            return false;
        }
        dropped.increment();
        return true;
    }

    /** Returns whether the traffic waits for room that can no longer become available. */
    boolean hasEnded() {
        return everything && context.isClosed();
    }

    public long captured() {
        return captured.sum();
    }

    public long dropped() {
        return dropped.sum();
    }
}
