package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the slow steps of a handshake on the handshake executor, one at a time, and wipes the secrets at its end.
 *
 * <p>A running step owns the secrets. The event loop does not touch them until it has the result, so {@link #close}
 * leaves wiping to a step that is still running.
 */
final class HandshakeComputation {

    private enum State {
        IDLE,
        /** A step waits in the executor, which can drop it, for example when it is shut down. */
        WAITING,
        RUNNING,
        /** Closed during a step, which then wipes the secrets. */
        CLOSING,
        CLOSED
    }

    private final ZMTPMechanism.Context context;
    private final Runnable wipe;

    /** Guarded by this. */
    private State state = State.IDLE;

    private volatile @Nullable Supplier<@Nullable ByteBuf> result;

    /**
     * Creates a computation without a step.
     *
     * @param wipe wipes all secrets; called once, when no step runs
     */
    HandshakeComputation(ZMTPMechanism.Context context, Runnable wipe) {
        this.context = context;
        this.wipe = wipe;
    }

    /**
     * Runs {@code step} on the executor. The event loop takes its result from {@link #takeResult} and runs it. The
     * result of a failed step throws its exception.
     */
    void start(Supplier<Supplier<@Nullable ByteBuf>> step) {
        if (!enter(State.IDLE, State.WAITING)) {
            return;
        }
        try {
            context.handshakeExecutor().execute(() -> run(step));
        } catch (RejectedExecutionException e) {
            enter(State.WAITING, State.IDLE);
            // Without a stack trace: there is one of these for each handshake of a flood.
            throw new ZMTPException(
                    ZMTPException.Code.CLOSED, "handshake executor: full (expected: room for one more)", e);
        } catch (RuntimeException | Error e) {
            enter(State.WAITING, State.IDLE);
            throw e;
        }
    }

    private void run(Supplier<Supplier<@Nullable ByteBuf>> step) {
        if (!enter(State.WAITING, State.RUNNING)) {
            return; // it was closed, and the secrets are gone
        }
        Supplier<@Nullable ByteBuf> next;
        try {
            next = step.get();
        } catch (RuntimeException | Error e) {
            next = () -> {
                throw e;
            };
        }
        if (finished(next)) {
            context.resume();
        } else {
            wipe.run();
        }
    }

    /**
     * Publishes the result and becomes idle atomically, because the event loop can start the next step with the result.
     */
    private synchronized boolean finished(Supplier<@Nullable ByteBuf> next) {
        result = next;
        return enter(State.RUNNING, State.IDLE);
    }

    private synchronized boolean enter(State from, State to) {
        if (state != from) {
            return false;
        }
        state = to;
        return true;
    }

    /**
     * Returns the continuation of the last step for the event loop, once, or null. The continuation returns the next
     * command, or null.
     */
    @Nullable
    Supplier<@Nullable ByteBuf> takeResult() {
        Supplier<@Nullable ByteBuf> taken = result;
        if (taken != null) { // otherwise a step might be publishing its result
            result = null;
        }
        return taken;
    }

    /** Wipes the secrets now, or leaves this to the running step. */
    void close() {
        boolean running;
        synchronized (this) {
            running = state == State.RUNNING;
            state = running ? State.CLOSING : State.CLOSED;
        }
        if (!running) {
            wipe.run();
        }
    }
}
