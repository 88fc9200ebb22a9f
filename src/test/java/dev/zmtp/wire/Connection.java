package dev.zmtp.wire;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A codec on an embedded channel, whose peer is the test: octets in, octets out, and all that the codec fired. */
final class Connection implements AutoCloseable {

    final ZMTPCodec codec;
    final EmbeddedChannel channel = new EmbeddedChannel();
    final List<Object> messages = new ArrayList<>();
    final List<Throwable> failures = new ArrayList<>();
    private final List<Object> events = new ArrayList<>();

    Connection(ZMTPCodec codec) {
        this.codec = codec;
        channel.pipeline().addLast(codec, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                messages.add(msg);
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                events.add(evt);
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failures.add(cause);
            }
        });
    }

    /** A connection that is past its handshake, with a peer of a fitting type that speaks {@code version}. */
    static Connection established(ZMTPVersion version, ZMTPCodec.Builder ours, ZMTPSocketType peer) {
        Connection connection = new Connection(ours.build());
        connection.receive(Hex.octets(greetingOf(version, peer)));
        connection.handshake();
        connection.sent();
        connection.releaseMessages();
        return connection;
    }

    static Connection established(ZMTPVersion version, ZMTPSocketType ours, ZMTPSocketType peer) {
        return established(version, ZMTPCodec.builder().socketType(ours), peer);
    }

    private static String greetingOf(ZMTPVersion version, ZMTPSocketType peer) {
        if (version == ZMTPVersion.ZMTP10) {
            return "01 00";
        }
        if (version == ZMTPVersion.ZMTP20) {
            return "ff 00*7 01 7f 01 " + "%02x".formatted(peer.code()) + " 00 00";
        }
        int metadata = 1 + "Socket-Type".length() + 4 + peer.name().length();
        return "ff 00*7 01 7f 03 " + "%02x".formatted(version.minor()) + " \"NULL\" 00*48 04 "
                + "%02x".formatted(6 + metadata) + " 05 \"READY\" 0b \"Socket-Type\" 00 00 00 "
                + "%02x".formatted(peer.name().length()) + " \"" + peer + "\"";
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
