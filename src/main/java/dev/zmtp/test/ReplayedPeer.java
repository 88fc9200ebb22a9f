package dev.zmtp.test;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.internal.transport.Endpoint;
import io.netty.channel.ChannelFuture;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/** The peer of a recorded connection, which compares what the socket sends with the recording, in order. */
final class ReplayedPeer implements PeerInput {

    /** Maximum number of messages by which the socket or the recording can be ahead. */
    private static final int MANY = 10_000;

    private final ZMTPTestLoop loop;
    private final int number;
    private final Consumer<ZMTPReplay.Difference> differences;
    private final TestConnection connection;
    private final Queue<List<byte[]>> expected = new ArrayDeque<>();
    private final Queue<List<byte[]>> actual = new ArrayDeque<>();
    private long compared;
    private long sent;

    /** Whether a difference was found, after which nothing is compared. */
    private boolean differs;

    ReplayedPeer(ZMTPTestLoop loop, ZMTPRecording.Entry up, Consumer<ZMTPReplay.Difference> differences) {
        this.loop = loop;
        this.number = up.connection();
        this.differences = differences;
        ZMTPSocketType type = up.peerType();
        ByteBuffer routingId = up.routingId();
        byte[] id = new byte[routingId.remaining()];
        routingId.get(id);
        this.connection = new TestConnection(type == null ? partner(up.socketType()) : type, id, this);
    }

    /** Returns a type for a peer that has announced none. */
    private static ZMTPSocketType partner(ZMTPSocketType socket) {
        return Arrays.stream(ZMTPSocketType.values())
                .filter(type -> type.accepts(socket))
                .findFirst()
                .orElseThrow();
    }

    void connect(String text) {
        VirtualLoop virtual = loop.virtual();
        Endpoint endpoint = Endpoint.parse(Map.of(virtual.bytes().scheme(), virtual.bytes()), text, false);
        ChannelFuture connected = ZMTPTestPeer.connect(virtual, endpoint, connection);
        loop.run();
        if (!connected.isSuccess() || !connection.isActive()) {
            throw new AssertionError(
                    "connection " + number + ": refused by the socket (expected: accepted, as recorded)",
                    connected.cause());
        }
    }

    /** Sends what the recorded peer has sent. */
    void send(ZMTPRecording.Entry entry) {
        if (!connection.isActive()) {
            throw new AssertionError("connection " + number + ": ended by the socket before " + loop.time()
                    + " (expected: open, as recorded)");
        }
        if (entry.kind() == ZMTPRecording.Kind.RECEIVED) {
            connection.sendMessage(entry.frames());
        } else {
            connection.sendSubscription(ReplayRun.command(entry), entry.frames().get(0));
        }
        loop.run();
    }

    /** Compares a message that the recorded socket has sent with that of this socket, now or when it arrives. */
    void expect(List<byte[]> frames) {
        expected.add(frames);
        compare();
        connection.readIfWanted();
        if (!expected.isEmpty()) {
            loop.run(); // it can be on the way
        }
        if (expected.size() > MANY) {
            differ(expected.remove(), List.of());
        }
    }

    @Override
    public void message(List<byte[]> frames) {
        sent++;
        actual.add(frames);
        compare();
    }

    @Override
    public void subscription(String name, byte[] topic) {
        actual.add(List.of(name.getBytes(StandardCharsets.US_ASCII), topic));
        compare();
    }

    @Override
    public boolean hasRoom() {
        return actual.size() < MANY;
    }

    private void compare() {
        while (!expected.isEmpty() && !actual.isEmpty()) {
            List<byte[]> recorded = expected.remove();
            List<byte[]> now = actual.remove();
            if (differs || equal(recorded, now)) {
                compared++;
            } else {
                differ(recorded, now);
            }
        }
        forgetIfDiffers();
    }

    private void forgetIfDiffers() {
        if (differs) {
            expected.clear();
            actual.clear();
        }
    }

    private static boolean equal(List<byte[]> recorded, List<byte[]> now) {
        return Arrays.deepEquals(recorded.toArray(), now.toArray());
    }

    private void differ(List<byte[]> recorded, List<byte[]> now) {
        if (!differs) {
            differs = true;
            differences.accept(new ZMTPReplay.Difference(number, compared + 1, recorded, now));
        }
        forgetIfDiffers();
    }

    long sent() {
        return sent;
    }

    boolean isBehind() {
        return !expected.isEmpty();
    }

    /** Reports a message that the recorded socket has not sent. */
    void checkNothingMore() {
        List<byte[]> more = actual.poll();
        if (more != null) {
            differ(List.of(), more);
        }
    }

    /** Reports a message that this socket has not sent. */
    void checkNothingMissing() {
        List<byte[]> missing = expected.poll();
        if (missing != null) {
            differ(missing, List.of());
        }
    }

    void close() {
        connection.close();
        loop.run();
    }
}
