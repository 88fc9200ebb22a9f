package dev.zmtp.wire;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.Arrays;
import java.util.List;

/** A codec on an embedded channel, whose peer is the test: octets in, octets out, and all that the codec fired. */
final class Connection implements AutoCloseable {

    final ZMTPCodec codec;
    final EmbeddedChannel channel = new EmbeddedChannel();
    private final Recorder<Object> recorder = Recorder.ofAll();
    final List<Object> messages = recorder.messages;
    final List<Throwable> failures = recorder.failures;
    private final List<Object> events = recorder.events;

    Connection(ZMTPCodec codec) {
        this.codec = codec;
        channel.pipeline().addLast(codec, recorder);
    }

    /** A connection that is past its handshake, with a peer of a fitting type that speaks {@code version}. */
    static Connection established(ZMTPVersion version, ZMTPCodec.Builder ours, ZMTPSocketType peer) {
        Connection connection = new Connection(ours.build());
        connection.receive(Hex.octets(InTraffic.greeting(version, peer)));
        connection.handshake();
        connection.sent();
        connection.releaseMessages();
        return connection;
    }

    static Connection established(ZMTPVersion version, ZMTPSocketType ours, ZMTPSocketType peer) {
        return established(version, ZMTPCodec.builder().socketType(ours), peer);
    }

    /** Hands {@code octets} to the codec, in one read. */
    void receive(byte... octets) {
        channel.writeInbound(channel.alloc().buffer(octets.length + 1).writeBytes(octets));
    }

    /** Hands {@code octets} to the codec, in two reads. */
    void receiveSplit(byte[] octets, int at) {
        receive(Arrays.copyOf(octets, at));
        receive(Arrays.copyOfRange(octets, at, octets.length));
    }

    /** Hands {@code octets} to the codec, each in a read of its own. */
    void receiveSingly(byte[] octets) {
        for (byte octet : octets) {
            receive(octet);
        }
    }

    /** The hex dump of all octets that the codec sent since the last call. */
    String sent() {
        StringBuilder out = new StringBuilder();
        for (ByteBuf octets = channel.readOutbound(); octets != null; octets = channel.readOutbound()) {
            out.append(ByteBufUtil.hexDump(octets));
            octets.release();
        }
        return out.toString();
    }

    /** What the handshake agreed on; it must be the only event. */
    ZMTPHandshake handshake() {
        if (events.size() != 1 || !(events.get(0) instanceof ZMTPHandshakeSuccess success)) {
            throw new AssertionError("events: " + events + " (expected: a success)");
        }
        return success.handshake();
    }

    /** Why the handshake failed; it must be the only event. */
    Throwable handshakeFailure() {
        if (events.size() != 1 || !(events.get(0) instanceof ZMTPHandshakeFailure failure)) {
            throw new AssertionError("events: " + events + " (expected: a failure)");
        }
        return failure.cause();
    }

    boolean isShakingHands() {
        return events.isEmpty();
    }

    void releaseMessages() {
        messages.forEach(ReferenceCountUtil::release);
        messages.clear();
    }

    @Override
    public void close() {
        releaseMessages();
        channel.finishAndReleaseAll();
    }
}
