package dev.zmtp.testing;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/**
 * A peer that says exactly what a test tells it to, and the embedded channel that it talks to.
 *
 * <p>The peer knows nothing of ZMTP, so that a fault of ours cannot hide in it.
 */
public final class ScriptedPeer implements AutoCloseable {

    /** The signature of an anonymous peer. */
    public static final String SIGNATURE = "ff 00*7 01 7f ";
    /** What a peer with the NULL mechanism sends behind the minor version. */
    public static final String NULL = "\"NULL\" 00*16 00 00*31 ";
    /** The whole greeting of an anonymous 3.1 peer with the NULL mechanism. */
    public static final String GREETING = SIGNATURE + "03 01 " + NULL;

    private final Recorder<Object> recorder = Recorder.ofAll();

    /** Our channel: what this peer writes arrives there. */
    public final EmbeddedChannel channel = new EmbeddedChannel();
    /** User events behind the codec, in order. */
    public final List<Object> events = recorder.events;
    /** Messages behind the codec, in order; released by {@link #close}. */
    public final List<Object> messages = recorder.messages;
    /** What came to exceptionCaught behind the codec. */
    public final List<Throwable> failures = recorder.failures;
    /** Events, messages and failures, in the order in which they came. */
    public final List<Object> all = recorder.all;

    /** Adds handlers to a channel that is already active. */
    public ScriptedPeer(ChannelHandler... handlers) {
        channel.pipeline().addLast(handlers).addLast("recorder", recorder);
    }

    /** The READY of a peer with a socket of {@code type}, and with properties of these names and ASCII values. */
    public static String ready(String type, String... namesAndValues) {
        ByteBuf body = Unpooled.buffer().writeBytes(Hex.octets("05 \"READY\""));
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
        int length = Hex.octets(body).length;
        return (length < 256 ? "04 %02x " : "06 %016x ").formatted(length) + body + " ";
    }

    /** Lets these octets arrive in one read. */
    public ScriptedPeer send(String hex) {
        return send(Hex.octets(hex));
    }

    /** Lets these octets arrive in one read; also, as a transport might, when the channel is closed already. */
    public ScriptedPeer send(byte[] octets) {
        ByteBuf in = channel.alloc().buffer(octets.length + 1).writeBytes(octets);
        if (channel.isOpen()) {
            channel.writeInbound(in);
        } else {
            channel.pipeline().fireChannelRead(in);
        }
        return this;
    }

    /** Lets these octets arrive in two reads, the first of {@code split} octets. */
    public ScriptedPeer send(byte[] octets, int split) {
        send(java.util.Arrays.copyOf(octets, split));
        return send(java.util.Arrays.copyOfRange(octets, split, octets.length));
    }

    /** Lets each of these octets arrive in a read of its own. */
    public ScriptedPeer sendSingly(byte[] octets) {
        for (byte octet : octets) {
            send(new byte[] {octet});
        }
        return this;
    }

    /** The hex dump of all that was sent to this peer since it was asked last. */
    public String received() {
        StringBuilder out = new StringBuilder();
        for (ByteBuf octets = channel.readOutbound(); octets != null; octets = channel.readOutbound()) {
            out.append(Hex.dump(octets));
        }
        return out.toString();
    }

    /** The only event so far. */
    public <T> T onlyEvent(Class<T> type) {
        if (events.size() != 1) {
            throw new AssertionError("events: " + events + ", failures: " + failures + " (expected: one)");
        }
        return type.cast(events.get(0));
    }

    /** The messages so far, one string each with a comma between frames. */
    public List<String> texts() {
        return messages.stream().map(ScriptedPeer::text).toList();
    }

    private static String text(Object message) {
        if (!(message instanceof ZMTPMessage frames)) {
            return message.toString();
        }
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < frames.size(); i++) {
            texts.add(frames.frame(i).toString(java.nio.charset.StandardCharsets.UTF_8));
        }
        return String.join(",", texts);
    }

    /** Ends the connection and releases all messages. */
    @Override
    public void close() {
        channel.finishAndReleaseAll();
        messages.forEach(ReferenceCountUtil::release);
        messages.clear();
    }
}
