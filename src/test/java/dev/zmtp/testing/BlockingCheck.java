package dev.zmtp.testing;

import dev.zmtp.codec.ZMTPCodec;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingMethod;
import reactor.blockhound.BlockingOperationError;

/**
 * Fails every test in which an event loop was blocked, and every test in which the library itself blocked the thread of
 * the test, where an embedded channel has its event loop.
 *
 * <p>It is registered for all tests through {@code META-INF/services}. On an event loop everyone's call counts, also a
 * handler's of the test, but for those calls of its own that Netty allows. On the thread of the tests only a call
 * counts after which our code stands nearer than any test's: tests may wait there. The call fails at once, and the test
 * when it is over, as a pipeline would swallow the failure. A test that blocks a loop on purpose does so inside
 * {@link Blocking#allow}.
 */
public final class BlockingCheck implements AfterEachCallback {

    private static final String OURS = "dev.zmtp.";
    private static final CodeSource LIBRARY =
            ZMTPCodec.class.getProtectionDomain().getCodeSource();
    private static final StackWalker STACK = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    /** Calls since they were last taken. */
    private static final Queue<BlockingOperationError> CALLS = new ConcurrentLinkedQueue<>();

    static {
        Thread tests = Thread.currentThread();
        libraryIsNearest(); // loads what it needs, as loading classes blocks
        Logger.getLogger("").getHandlers(); // so that two event loops that log do not wait for each other to load them
        BlockHound.builder()
                .loadIntegrations()
                .nonBlockingThreadPredicate(loops -> loops.or(thread -> thread == tests))
                .allowBlockingCallsInside(Blocking.class.getName(), "allow")
                // What Netty does itself and does not say: waiting when idle, ending a ring, locks that are held
                // shortly.
                .allowBlockingCallsInside("io.netty.channel.local.LocalIoHandler", "run")
                .allowBlockingCallsInside("io.netty.channel.uring.IoUringIoHandler", "destroy")
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator", "allocate")
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator$Magazine", "free")
                // Netty reads files when it is loaded, in BundleIT also by another class loader.
                .allowBlockingCallsInside("io.netty.util.internal.PlatformDependent", "<clinit>")
                // So does the JDK, for its first socket, and for its first Unix domain socket.
                .allowBlockingCallsInside("sun.net.NetProperties", "<clinit>")
                .allowBlockingCallsInside("sun.nio.ch.UnixDomainSockets", "<clinit>")
                // So does JNA, for the first key or mechanism of CURVE.
                .allowBlockingCallsInside("dev.zmtp.security.JnaLibsodium", "<clinit>")
                // So does the seed of masking keys, once.
                .allowBlockingCallsInside("dev.zmtp.internal.websocket.MaskingKeys", "<clinit>")
                // What an executor runs, though it be the thread of the test, and what says that it may block.
                .allowBlockingCallsInside("dev.zmtp.security.HandshakeComputation", "run")
                .allowBlockingCallsInside("dev.zmtp.security.ZMTPCurveKeyPair", "generate")
                .allowBlockingCallsInside("dev.zmtp.security.ZMTPCurveKeyPair", "ofSecretKey")
                .allowBlockingCallsInside("dev.zmtp.security.CurveFile", "read")
                .allowBlockingCallsInside("dev.zmtp.security.CurveFile", "write")
                // What is for threads that may block.
                .allowBlockingCallsInside("dev.zmtp.shm.BlockingRings", "spin")
                .allowBlockingCallsInside("dev.zmtp.shm.SharedMemorySocket", "connect")
                .allowBlockingCallsInside("dev.zmtp.shm.BlockingBell", "await")
                .allowBlockingCallsInside("dev.zmtp.shm.BlockingBell", "write")
                .allowBlockingCallsInside("dev.zmtp.shm.BlockingBell", "close")
                .allowBlockingCallsInside("dev.zmtp.shm.SharedMemoryServerSocket", "bind")
                .allowBlockingCallsInside("dev.zmtp.shm.SharedMemoryServerSocket", "accept")
                .allowBlockingCallsInside("dev.zmtp.shm.SharedMemoryServerSocket", "close")
                // MeetingTest says that no event loop comes here.
                .allowBlockingCallsInside("dev.zmtp.shm.RandomBytes", "next")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.context.LoopFuture", "get")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.context.LoopFuture", "join")
                // Files of captures, which the thread of a test opens and closes.
                .allowBlockingCallsInside("dev.zmtp.internal.capture.CaptureFile", "beginFirst")
                .allowBlockingCallsInside("dev.zmtp.internal.capture.CaptureWriter", "close")
                .allowBlockingCallsInside("dev.zmtp.internal.capture.CaptureWriter", "drain")
                .allowBlockingCallsInside("dev.zmtp.internal.capture.CaptureWriter", "end")
                // Threads that wait, which are checked before not to be those of event loops.
                .allowBlockingCallsInside("dev.zmtp.internal.socket.send.WaitingThread", "await")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Sleepers", "await")
                // Executors that start a thread and end it when it is idle.
                .allowBlockingCallsInside("java.util.concurrent.ThreadPoolExecutor", "addWorker")
                // A lock that each side holds for a few instructions.
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "takerOrQueue")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "take")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "underLock")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "serve")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "putBack")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "passNext")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "locked")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.receive.Inbox", "close")
                // The Flight Recorder, for those who enable it.
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "beginHandshake")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "connected")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "ended")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "beginRequest")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "request")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "requestEnds")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "beginServe")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "serve")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "fired")
                .allowBlockingCallsInside("dev.zmtp.internal.socket.flight.Flight", "blocked")
                // A future that completes on an event loop cancels the timer that orTimeout has given it.
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove")
                // Tests hand what they hear from an event loop to their own thread, under a lock that is held as
                // shortly.
                .allowBlockingCallsInside("java.util.concurrent.LinkedBlockingQueue", "offer")
                .allowBlockingCallsInside("java.util.concurrent.ArrayBlockingQueue", "offer") // of the TCK
                .blockingMethodCallback(BlockingCheck::called)
                .install();
    }

    /** Takes the calls that blocked in this test until now, for which it then does not fail. */
    static List<BlockingOperationError> takeCalls() {
        List<BlockingOperationError> taken = new ArrayList<>();
        for (BlockingOperationError call = CALLS.poll(); call != null; call = CALLS.poll()) {
            taken.add(call);
        }
        return taken;
    }

    private static void called(BlockingMethod method) {
        if (!(Thread.currentThread() instanceof FastThreadLocalThread) && !libraryIsNearest()) {
            return;
        }
        BlockingOperationError call = new BlockingOperationError(method);
        CALLS.add(call);
        throw call;
    }

    private static boolean libraryIsNearest() {
        Optional<Class<?>> nearest =
                STACK.walk(frames -> frames.<Class<?>>map(StackWalker.StackFrame::getDeclaringClass)
                        .filter(type -> type.getName().startsWith(OURS) && type != BlockingCheck.class)
                        .findFirst());
        return nearest.isPresent()
                && LIBRARY.equals(nearest.get().getProtectionDomain().getCodeSource());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        check();
    }

    void check() {
        List<BlockingOperationError> calls = takeCalls();
        if (!calls.isEmpty()) {
            AssertionError failure =
                    new AssertionError("event loops were blocked " + calls.size() + " times (expected: never)");
            calls.forEach(failure::addSuppressed);
            throw failure;
        }
    }
}
