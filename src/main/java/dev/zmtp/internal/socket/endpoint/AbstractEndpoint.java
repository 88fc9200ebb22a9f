package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.SharedFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.Lookup;
import dev.zmtp.internal.transport.TcpAddress;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The common part of connectors and listeners, with a text, the future of being ready, and an address that is looked
 * up.
 */
abstract class AbstractEndpoint implements ZMTPEndpoint {

    final SocketContext context;
    final Endpoint endpoint;
    final SharedFuture<ZMTPEndpoint> ready = new SharedFuture<>();
    private final Lookup.Question question;

    /** Hash code, so that sets of endpoints have the same order in each run of a test. */
    private final int number;

    /** True if a caller has asked for {@link #readyFuture}. */
    volatile boolean awaited;

    AbstractEndpoint(SocketContext context, Endpoint endpoint) {
        this.context = context;
        this.endpoint = endpoint;
        this.number = context.nextNumber();
        this.question = new Lookup.Question(context, nameIn(endpoint), cause -> context.execute(() -> failed(cause)));
    }

    /** Returns the key that is shared by endpoints whose lookups wait for the same name. */
    private static String nameIn(Endpoint endpoint) {
        TcpAddress tcp = endpoint.address().tcp();
        return tcp == null ? endpoint.toString() : tcp.host();
    }

    @Override
    public final int hashCode() {
        return number;
    }

    @Override
    public final CompletableFuture<ZMTPEndpoint> readyFuture() {
        awaited = true;
        return ready;
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

    /** Returns the codec settings of its connections, which are those of the socket with or without changes. */
    ZMTPConfig codec(ZMTPConfig ofSocket) {
        return ofSocket;
    }

    /** Returns the exception for a caller whose wait has timed out. */
    abstract ZMTPSocketException notReadyYet();

    /** Looks up the address, on an executor for lookups if that can block. On the event loop. */
    final void lookUp() {
        try {
            switch (endpoint.address().asks()) {
                case NOTHING -> resolve();
                case FILES -> Lookup.FILES.ask(question, this::resolve);
                case NAMES -> lookUp(context.config().resolverExecutor());
            }
        } catch (Throwable e) { // of the user's executor
            failed(e);
        }
    }

    private void lookUp(Executor executor) {
        if (executor instanceof Lookup fair) {
            fair.ask(question, this::resolve);
        } else {
            executor.execute(this::resolve);
        }
    }

    /** Called when the address is no longer needed. */
    final void forgetLookup() {
        question.end();
    }

    /** Looks up the address, and continues with it on the event loop. */
    abstract void resolve();

    /** Called on the event loop when the address cannot be looked up. */
    abstract void failed(Throwable cause);

    @Override
    public final String toString() {
        return "ZMTPEndpoint{" + text() + ", " + state() + "}";
    }
}
