package dev.zmtp.internal.socket.receive;

import dev.zmtp.internal.socket.context.ReceivingFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketException;

/** The future of a single message. If it is completed in another way, the message is given to the next receiver. */
abstract class AwaitedMessage<T> extends ReceivingFuture<T> implements Taker {

    final SocketContext context;
    final Inbox inbox;

    AwaitedMessage(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    @Override
    public final void fail(ZMTPSocketException cause) {
        context.completions().fail(this, cause);
    }

    @Override
    protected final boolean giveUp() {
        inbox.forget(this);
        return true;
    }
}
