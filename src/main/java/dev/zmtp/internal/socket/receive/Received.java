package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;

/** The future of one message. If it is cancelled, the message goes to the next one. */
public final class Received extends LoopFuture<ZMTPMessage> implements Taker {

    private final SocketContext context;
    private final Inbox inbox;

    public Received(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    @Override
    public boolean take(Peer from, ZMTPMessage message) {
        message.retain(); // the original stays as it is if this receive was cancelled
        ZMTPMessage presented = Names.added(context, from, message);
        boolean taken = super.complete(presented);
        ReferenceCountUtil.safeRelease(taken ? message : presented);
        return taken;
    }

    @Override
    public void fail(ZMTPSocketException cause) {
        context.completions().fail(this, cause);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        inbox.forget(this);
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean complete(ZMTPMessage other) { // the application and completeOnTimeout may call this
        inbox.forget(this);
        return super.complete(other);
    }

    @Override
    public boolean completeExceptionally(Throwable cause) { // orTimeout calls this, too
        inbox.forget(this);
        return super.completeExceptionally(cause);
    }
}
