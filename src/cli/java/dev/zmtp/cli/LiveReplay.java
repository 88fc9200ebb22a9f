package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording.Entry;
import dev.zmtp.capture.ZMTPRecording.Kind;
import dev.zmtp.internal.capture.RecordedConversation;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPReplay;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a recording, which talk to a server. An entry is played after the server has sent everything that the
 * recording has before it, so that the order of questions and answers is the recorded order at any speed.
 */
final class LiveReplay implements AutoCloseable {

    /** Time after the end in which the server can send messages that were not recorded. */
    private static final long GRACE_MILLIS = 100;

    private final Endpoint endpoint;
    private final String recorded;
    private final Function<ZMTPSocketType, ZMTPSocketConfig.Builder> configs;
    private final double speed;
    private final Duration wait;

    @SuppressWarnings("deprecation") // its successor does not exist in Netty 4.1
    private final EventLoopGroup loop = new NioEventLoopGroup(1);

    private final Map<Integer, LivePeer> peers = new LinkedHashMap<>();
    private final AtomicReference<ZMTPReplay.@Nullable Difference> first = new AtomicReference<>();
    private final long start = System.nanoTime();
    private @Nullable Duration begin;
    private long connections;
    private long sent;
    private long received;

    LiveReplay(
            String endpoint,
            String recorded,
            Function<ZMTPSocketType, ZMTPSocketConfig.Builder> configs,
            double speed,
            Duration wait) {
        try {
            SocketValues transports = new SocketValues(
                    configs.apply(ZMTPSocketType.DEALER).build().codec());
            this.endpoint = Endpoint.parse(transports.transports, endpoint, false);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Main.text(e));
        }
        if (this.endpoint.transport().carriesMessages()) {
            throw new CliException(
                    ExitCode.USAGE, "endpoint: " + endpoint + " (expected: an endpoint of another process)");
        }
        this.recorded = recorded;
        this.configs = configs;
        this.speed = speed;
        this.wait = wait;
    }

    /** Plays an entry at its time, unless it belongs to another endpoint. */
    void play(Entry entry) throws InterruptedException {
        LivePeer peer = peers.get(entry.connection());
        boolean connects =
                entry.kind() == Kind.UP && entry.accepted() && entry.endpoint().equals(recorded);
        if (!connects && peer == null) {
            return;
        }
        if (peer != null && RecordedConversation.isOfSocket(entry)) {
            peer.expect(entry);
            return;
        }
        awaitServer();
        awaitTime(entry.time());
        if (peer == null) {
            connections++;
            peers.put(entry.connection(), connect(entry));
        } else if (entry.kind() == Kind.DOWN) {
            peers.remove(entry.connection());
            end(peer);
        } else {
            peer.send(entry);
            sent++;
        }
        check();
    }

    private LivePeer connect(Entry up) throws InterruptedException {
        LivePeer peer = new LivePeer(up, wait, difference -> first.compareAndSet(null, difference));
        peer.connect(loop, endpoint, configs.apply(RecordedConversation.peerType(up)));
        return peer;
    }

    private void awaitTime(Duration time) throws InterruptedException {
        if (begin == null) {
            begin = time;
        }
        if (speed > 0) {
            long due = start + (long) (time.minus(begin).toNanos() / speed);
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
        }
    }

    private void awaitServer() throws InterruptedException {
        for (LivePeer peer : peers.values()) {
            peer.awaitExpected();
            check();
        }
    }

    private void check() {
        ZMTPReplay.Difference difference = first.get();
        if (difference != null) {
            throw CliException.failed(difference.toString());
        }
    }

    private void end(LivePeer peer) {
        peer.checkNothingMore();
        received += peer.received();
        peer.close();
    }

    /** Waits for the last messages, and returns the result. */
    String end() throws InterruptedException {
        awaitServer();
        TimeUnit.MILLISECONDS.sleep(GRACE_MILLIS);
        Iterator<LivePeer> left = peers.values().iterator();
        while (left.hasNext()) {
            end(left.next());
            left.remove();
        }
        check();
        if (connections == 0) {
            throw CliException.failed("no peer had connected to " + recorded);
        }
        return String.format(
                Locale.ROOT,
                "%,d connections, %,d messages sent, %,d received as recorded, %s",
                connections,
                sent,
                received,
                Greeter.time(System.nanoTime() - start));
    }

    @Override
    public void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
