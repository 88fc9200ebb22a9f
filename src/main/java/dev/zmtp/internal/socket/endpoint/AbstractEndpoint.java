package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The common part of both kinds of endpoints: a text, the future of being ready, and an address that is looked up. */
abstract class AbstractEndpoint implements ZMTPEndpoint {

    final SocketContext context;
    final Endpoint endpoint;
    final CompletableFuture<ZMTPEndpoint> ready = new LoopFuture<>();

    /** Whether somebody has asked for {@link #ready}. */
    volatile boolean awaited;

    AbstractEndpoint(SocketContext context, Endpoint endpoint) {
        this.context = context;
        this.endpoint = endpoint;
    }

    @Override
    public final CompletableFuture<ZMTPEndpoint> ready() {
        awaited = true;
        return ready.copy();
    }

    @Override
    public final ZMTPEndpoint sync() throws InterruptedException {
        awaited = true;
        return Waiting.await(ready);
    }

    @Override
    public final ZMTPEndpoint sync(Duration timeout) throws InterruptedException {
        awaited = true;
        return Waiting.await(ready, timeout, this::notReadyYet);
    }

    /**
     * Returns the settings of the protocol for its connections, which are those of the socket with changes or without.
     */
    ZMTPConfig codec(ZMTPConfig ofSocket) {
        return ofSocket;
    }

    /** Returns what says that it took longer than a caller waits. */
    abstract ZMTPSocketException notReadyYet();

    /** Looks the address up, on the executor for it if that may block. On the event loop. */
    final void lookUp() {
        if (!endpoint.address().mayBlock()) {
            resolve();
            return;
        }
        try {
            context.config().resolver().execute(this::resolve);
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** Looks the address up, and goes on with it on the event loop. */
    abstract void resolve();

    /** Called on the event loop when the address cannot be looked up. */
    abstract void failed(Throwable cause);

    @Override
    public final String toString() {
        return "ZMTPEndpoint{" + text() + ", " + state() + "}";
    }
}
