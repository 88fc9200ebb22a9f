package dev.zmtp.testing;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A peer that sends exactly the bytes that a test gives it, and our end of the connection, which is an embedded channel
 * whose time stands still.
 *
 * <p>The peer knows nothing of ZMTP, so that a fault of ours cannot hide in it. All verbs are the peer's: it
 * {@linkplain #send sends} and has {@linkplain #received() received}. What we do stands at {@link #channel}.
 * {@link InTraffic} starts a connection whose handshake is done.
 */
public final class ScriptedPeer implements AutoCloseable {

    /** The signature of an anonymous peer. */
    public static final String SIGNATURE = "ff 00*7 01 7f ";
    /** What a peer with the NULL mechanism sends after the minor version. */
    public static final String NULL = "\"NULL\" 00*16 00 00*31 ";
    /** The whole greeting of an anonymous 3.1 peer with the NULL mechanism. */
    public static final String GREETING = SIGNATURE + "03 01 " + NULL;

    private final Recorder<String> recorder = Recorder.ofDescriptions();
    private final Optional<ZMTPCodec> codec;

    /** Our end: what this peer sends arrives here. */
    public final EmbeddedChannel channel;
    /** Messages that our end fired, as {@link Fired} describes them, in order. They are released. */
    public final List<String> messages = recorder.messages;
    /** User events that our end fired, in order. */
    public final List<Object> events = recorder.events;
    /** What our end passed to exceptionCaught. */
    public final List<Throwable> failures = recorder.failures;
    /** Events, messages and failures, in the order in which they came. */
    public final List<Object> all = recorder.all;

    /** Connects the peer to a channel with these handlers. They are added when the channel is active already. */
    public ScriptedPeer(ChannelHandler... handlers) {
        this(new EmbeddedChannel(), handlers);
    }

    /** Connects the peer to this channel, with these handlers. */
    public ScriptedPeer(EmbeddedChannel channel, ChannelHandler... handlers) {
        this.channel = channel;
        channel.freezeTime();
        this.codec = Arrays.stream(handlers)
                .filter(ZMTPCodec.class::isInstance)
                .map(ZMTPCodec.class::cast)
                .findFirst();
        for (ChannelHandler handler : handlers) {
            channel.pipeline().addLast(handler instanceof ZMTPCodec ? "codec" : null, handler);
        }
        channel.pipeline().addLast("recorder", recorder);
    }

    /** The codec that our end began with; it may be out of the pipeline by now. */
    public ZMTPCodec codec() {
        return codec.orElseThrow();
    }

    /** What a peer of this version and type sends before traffic begins: a greeting, and READY or its identity. */
    public static String greeting(ZMTPVersion version, ZMTPSocketType type) {
        return switch (version) {
            case ZMTP10 -> "01 00 ";
            case ZMTP20 -> SIGNATURE + "01 0" + Integer.toHexString(type.code()) + " 00 00 ";
            case ZMTP30, ZMTP31 -> SIGNATURE + "03 0" + version.minor() + " " + NULL + ready(type.name());
        };
    }

    /** The READY of a peer with a socket of {@code type}, and with properties of these names and ASCII values. */
    public static String ready(String type, String... namesAndValues) {
        ByteBuf body = Unpooled.buffer().writeBytes(Hex.bytes("05 \"READY\""));
        property(body, "Socket-Type", type);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            property(body, namesAndValues[i], namesAndValues[i + 1]);
        }
        return command(ByteBufUtil.hexDump(body));
    }

    private static void property(ByteBuf out, String name, String value) {
        out.writeByte(name.length());
        ByteBufUtil.writeAscii(out, name);
        out.writeInt(value.length());
        ByteBufUtil.writeAscii(out, value);
    }

    /** A frame of a command with this body. */
    public static String command(String body) {
        int length = Hex.bytes(body).length;
        return (length < 256 ? "04 %02x " : "06 %016x ").formatted(length) + body + " ";
    }

    /** Sends these bytes, which arrive in one read. */
    public ScriptedPeer send(String hex) {
        return send(Hex.bytes(hex));
    }

    /** Sends these bytes, which arrive in one read; also, as a transport might, when the channel is closed already. */
    public ScriptedPeer send(byte... bytes) {
        ByteBuf in = channel.alloc().buffer(bytes.length + 1).writeBytes(bytes);
        if (channel.isOpen()) {
            channel.writeInbound(in);
        } else {
            channel.pipeline().fireChannelRead(in);
        }
        return this;
    }

    /** Sends these bytes, which arrive in two reads, the first of {@code split} bytes. */
    public ScriptedPeer send(byte[] bytes, int split) {
        send(Arrays.copyOf(bytes, split));
        return send(Arrays.copyOfRange(bytes, split, bytes.length));
    }

    /** Sends these bytes, each of which arrives in its own read. */
    public ScriptedPeer sendSingly(byte[] bytes) {
        for (byte next : bytes) {
            send(next);
        }
        return this;
    }

    /** The hex dump of all that this peer has received since the last call. */
    public String received() {
        return String.join("", receivedPieces());
    }

    /** What this peer has received since the last call: one hex dump for each buffer. */
    public List<String> receivedPieces() {
        List<String> pieces = new ArrayList<>();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            pieces.add(Hex.dump(bytes));
        }
        return pieces;
    }

    /** The only event so far. */
    public <T> T onlyEvent(Class<T> type) {
        if (events.size() != 1) {
            throw new AssertionError("events: " + events + ", failures: " + failures + " (expected: one)");
        }
        return type.cast(events.get(0));
    }

    /** Ends the connection. */
    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }
}
