package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording.Entry;
import dev.zmtp.capture.ZMTPRecording.Kind;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.capture.RecordedConversation;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.WebSocketAddress;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPReplay;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
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

    /** Maximum time for the server to end connections whose peers have ended. */
    private static final Duration ENDS = Duration.ofSeconds(1);

    private final Endpoint endpoint;
    private final String recorded;
    private final Function<ZMTPSocketType, ZMTPSocketConfig.Builder> configs;

    /** Configs by the type of their peers, because keys and certificates are read from files. */
    private final Map<ZMTPSocketType, ZMTPSocketConfig.Builder> made = new EnumMap<>(ZMTPSocketType.class);

    private final double speed;
    private final Duration wait;
    private final EventLoopGroup loop;
    private final Map<Integer, LivePeer> peers = new LinkedHashMap<>();
    private final AtomicReference<ZMTPReplay.@Nullable Difference> first = new AtomicReference<>();
    private final long start = System.nanoTime();
    private @Nullable Duration begin;
    private long connections;
    private long sent;
    private long received;

    @SuppressWarnings("deprecation") // The successor of NioEventLoopGroup does not exist in Netty 4.1.
    LiveReplay(
            String endpoint,
            String recorded,
            Function<ZMTPSocketType, ZMTPSocketConfig.Builder> configs,
            double speed,
            Duration wait) {
        try {
            SocketValues transports = new SocketValues(
                    ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build());
            this.endpoint = Endpoint.parse(transports.transports, endpoint, false);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Main.text(e));
        }
        if (this.endpoint.transport().carriesMessages() || this.endpoint.address() instanceof WebSocketAddress) {
            throw new CliException(ExitCode.USAGE, "endpoint: " + endpoint + " (expected: tcp, ipc or shm)");
        }
        this.recorded = recorded;
        this.configs = configs;
        this.speed = speed;
        this.wait = wait;
        this.loop = new NioEventLoopGroup(1);
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
            awaitTime(entry.time());
            peer.expect(entry);
            check();
            return;
        }
        awaitServer();
        awaitTime(entry.time());
        if (peer == null) {
            connections++;
            peers.put(entry.connection(), connect(entry));
        } else if (entry.kind() == Kind.DOWN) {
            peers.remove(entry.connection());
            end(List.of(peer));
        } else {
            peer.send(entry);
            sent++;
        }
        check();
    }

    private LivePeer connect(Entry up) throws InterruptedException {
        LivePeer peer = new LivePeer(up, wait, difference -> first.compareAndSet(null, difference));
        peer.connect(loop, endpoint, made.computeIfAbsent(RecordedConversation.peerType(up), configs));
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

    /** Ends connections from this side, and waits until the server has noticed it and sent its last messages. */
    private void end(Collection<LivePeer> some) throws InterruptedException {
        some.forEach(LivePeer::endOutput);
        long end = System.nanoTime() + ENDS.toNanos();
        for (LivePeer peer : some) {
            peer.awaitEnd(end);
            peer.checkNothingMore();
            received += peer.received();
            peer.close();
        }
    }

    /** Waits for the last messages, and returns the result. */
    String end() throws InterruptedException {
        awaitServer();
        end(peers.values());
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
