package dev.zmtp.internal.capture;

import dev.zmtp.internal.runtime.IdleThread;
import dev.zmtp.internal.runtime.VirtualClock;
import io.netty.channel.EventLoop;
import io.netty.util.internal.ThreadExecutorMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The queue of blocks between event loops and the thread that writes them. An event loop never waits. Blocks that find
 * no room are dropped and counted.
 */
public final class CaptureWriter {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.capture.ZMTPCapture");

    /** Maximum number of interfaces. Further endpoints share the last interface. */
    private static final int MAX_INTERFACES = 1_000;

    private enum State {
        OPEN,
        /** The file is full or cannot be written. */
        ENDED,
        CLOSED
    }

    /** The blocks of a message, which follow each other in the file. */
    private record Blocks(CapturedInterface at, List<byte[]> blocks) {}

    private final int snapLength;
    private final long queueBytes;
    private final long messageBytes;
    private final CaptureFile file;
    private final Executor executor;
    private final Queue<Blocks> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queued = new AtomicLong();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final AtomicInteger number = new AtomicInteger();
    private final long clockOffset = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
    private final long opened = now();

    /** The thread's event loop, if it is one in virtual time, and its time when the capture was opened. */
    private final @Nullable VirtualClock openedIn =
            ThreadExecutorMap.currentExecutor() instanceof VirtualClock clock ? clock : null;

    private final long virtualOpened = openedIn == null ? 0 : openedIn.currentNanos();

    private final LongAdder packets = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final CountDownLatch ended = new CountDownLatch(1);

    private final Map<String, CapturedInterface> interfaces = new LinkedHashMap<>();

    /** The newest of the interfaces, which guard it. */
    private @Nullable CapturedInterface lastInterface;

    /** Packets that were dropped before their interface was known. It is in the file only if there are any. */
    private final CapturedInterface unknown = new CapturedInterface("none", "not established");

    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
    private volatile @Nullable Throwable failure;

    /** Creates the file. */
    public CaptureWriter(CaptureSettings settings) throws IOException {
        this(settings, IdleThread.executor("zmtp-capture"));
    }

    /** @param executor runs one task at a time, in order */
    CaptureWriter(CaptureSettings settings, Executor executor) throws IOException {
        this.executor = executor;
        this.snapLength = settings.snapLength();
        this.queueBytes = settings.queueBytes();
        this.messageBytes = settings.messageBytes();
        this.file = new CaptureFile(settings, opened, unknown, this::interfaces);
    }

    public int snapLength() {
        return snapLength;
    }

    public long packets() {
        return packets.sum();
    }

    public long dropped() {
        return dropped.sum();
    }

    // On any event loop

    /** Returns the time since 1970 in nanoseconds. */
    long now() {
        return clockOffset + System.nanoTime();
    }

    /**
     * Returns the time of a connection, which is virtual if that of its event loop is. A loop that was made later
     * begins when the capture was opened.
     */
    long now(EventLoop loop) {
        if (!(loop instanceof VirtualClock clock)) {
            return now();
        }
        return opened + clock.currentNanos() - (clock.equals(openedIn) ? virtualOpened : clock.beginNanos());
    }

    /** Returns the number of the next connection without addresses. */
    int nextNumber() {
        return number.incrementAndGet();
    }

    /** Returns the number of bytes that are reserved or wait to be written. */
    long queued() {
        return queued.get();
    }

    CapturedInterface at(String endpoint, String description) {
        synchronized (interfaces) {
            String key = endpoint + ' ' + description;
            CapturedInterface known = interfaces.get(key);
            if (known == null) {
                if (lastInterface != null && interfaces.size() >= MAX_INTERFACES) {
                    return lastInterface;
                }
                known = new CapturedInterface(endpoint, description);
                interfaces.put(key, known);
                lastInterface = known;
            }
            return known;
        }
    }

    /** Reserves memory for blocks that are added next. Returns whether there is room for them. */
    boolean reserve(long bytes) {
        if (state.get() != State.OPEN || bytes > messageBytes) {
            return false;
        }
        if (queued.addAndGet(bytes) <= queueBytes) {
            return true;
        }
        queued.addAndGet(-bytes);
        return false;
    }

    /** Returns what was reserved and not used. */
    void unreserve(long bytes) {
        queued.addAndGet(-bytes);
    }

    /** Counts packets that were dropped before their interface was known. */
    void dropped(long number) {
        dropped(unknown, number);
    }

    /** Counts packets that were dropped. From any thread. Those after the close do not make the file incomplete. */
    void dropped(CapturedInterface at, long number) {
        if (state.get() != State.CLOSED) {
            at.dropped(number);
        }
        dropped.add(number);
    }

    /** Adds the blocks of a message, whose length was reserved. */
    void add(CapturedInterface at, List<byte[]> blocks) {
        queue.add(new Blocks(at, blocks));
        wake();
    }

    private List<CapturedInterface> interfaces() {
        synchronized (interfaces) {
            return List.copyOf(interfaces.values());
        }
    }

    private void wake() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            try {
                executor.execute(this::drain);
            } catch (Throwable e) { // no thread can be started at present, so the next block tries again
                scheduled.set(false);
                logger.debug("The capture {} waits for a thread", file, e);
            }
        }
    }

    // On the writer's thread, or without one, on the thread that closes

    private synchronized void drain() {
        scheduled.set(false); // first, so that a later block wakes it again
        for (Blocks next = queue.poll(); next != null; next = queue.poll()) {
            for (byte[] block : next.blocks) {
                queued.addAndGet(-block.length);
                write(next.at, block);
            }
        }
        flush();
    }

    private void write(CapturedInterface at, byte[] block) {
        try {
            if (file.write(at, block)) {
                packets.increment();
                return;
            }
            if (state.compareAndSet(State.OPEN, State.ENDED)) {
                logger.warn("The capture {} has reached its maximum length and ends", file);
            }
        } catch (Throwable e) {
            fail(e);
        }
        dropped.increment();
    }

    private void flush() {
        try {
            file.flush();
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void fail(Throwable cause) {
        state.compareAndSet(State.OPEN, State.ENDED);
        failure = cause;
        file.abandon();
        logger.warn("The capture {} ends, because it cannot be written", file, cause);
    }

    /** Writes what waits, and the statistics. */
    synchronized void end() {
        try {
            drain();
            file.close();
        } catch (Throwable e) {
            fail(e);
        } finally {
            ended.countDown();
        }
    }

    // On the thread of the user

    /** Writes the queue and the statistics. */
    public void close() throws IOException {
        if (state.getAndSet(State.CLOSED) == State.CLOSED) {
            return;
        }
        try {
            executor.execute(this::end);
        } catch (Throwable e) { // no thread can be started
            logger.debug("The capture {} is written by the thread that closes it", file, e);
            end();
        }
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted before the capture was written");
        }
        Throwable cause = failure;
        if (cause != null) {
            throw new IOException("the capture could not be written: " + cause.getMessage(), cause);
        }
    }
}
