package dev.zmtp.internal.socket.receive;

import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketException;

/** The future of a single message. If it is completed in another way, the message is given to the next receiver. */
abstract class AwaitedMessage<T> extends LoopFuture<T> implements Taker {

    final SocketContext context;
    private final Inbox inbox;

    AwaitedMessage(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    /** Completes with the message. Returns false if the future was completed before. */
    final boolean received(T message) {
        return super.complete(message);
    }

    @Override
    public final void fail(ZMTPSocketException cause) {
        context.completions().fail(this, cause);
    }

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        inbox.forget(this);
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public final boolean complete(T other) { // the application and completeOnTimeout can call this
        inbox.forget(this);
        return super.complete(other);
    }

    @Override
    public final boolean completeExceptionally(Throwable cause) { // orTimeout also calls this
        inbox.forget(this);
        return super.completeExceptionally(cause);
    }
}
