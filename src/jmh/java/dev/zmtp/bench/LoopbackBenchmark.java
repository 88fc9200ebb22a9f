package dev.zmtp.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of messages that arrive over a loopback socket. Traffic never pauses; an invocation waits for its share
 * of what arrives. At the end everything that was sent must have arrived.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public abstract class LoopbackBenchmark {

    /** What has arrived. */
    final Progress progress = new Progress();

    private LoopbackConnection connection;
    private long awaited;

    /** Connects {@code client} to {@code server}, to be called by the setup of the benchmark. */
    final LoopbackConnection open(
            SocketTransport transport, LoopbackConnection.End client, LoopbackConnection.End server) throws Exception {
        connection = LoopbackConnection.open(transport, progress, client, server);
        return connection;
    }

    /** The connection. */
    final LoopbackConnection connection() {
        return connection;
    }

    /** Starts to count: what arrived between two iterations belongs to neither. */
    @Setup(Level.Iteration)
    public void startIteration() {
        awaited = progress.count();
    }

    /** Waits until {@code count} more have arrived. */
    final void awaitMore(int count) {
        awaited += count;
        progress.await(awaited);
    }

    /** Stops sending, waits until everything has arrived, and closes the connection. */
    @TearDown
    public void close() throws Exception {
        if (connection == null) {
            return; // this machine has no such transport
        }
        try {
            progress.awaitExactly(stop());
        } finally {
            connection.close();
            release();
        }
    }

    /** Stops sending; returns how many messages must arrive in all. */
    abstract long stop() throws Exception;

    /** Releases what the benchmark holds. */
    abstract void release();
}
