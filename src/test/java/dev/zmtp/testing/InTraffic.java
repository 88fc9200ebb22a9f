package dev.zmtp.testing;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A codec on an embedded channel whose handshake with a scripted peer is over, and all that it fires since. */
public final class InTraffic implements AutoCloseable {

    /** The channel. What the codec sent during the handshake is gone from it. */
    public final EmbeddedChannel channel;

    private final Recorder<String> recorder = new Recorder<>(InTraffic::take);

    /** The codec. */
    public final ZMTPCodec codec;

    /** Messages as {@link #describe} shows them, in order. They are released. */
    public final List<String> heard = recorder.messages;

    /** User events, in order. */
    public final List<Object> events = recorder.events;

    /** What came to exceptionCaught, in order. */
    public final List<Throwable> failures = recorder.failures;

    private InTraffic(Setup setup) {
        codec = setup.settings.apply(ZMTPCodec.builder().socketType(setup.ours)).build();
        channel = new EmbeddedChannel();
        channel.freezeTime();
        if (setup.allocator != null) {
            channel.config().setAllocator(setup.allocator);
        }
        channel.pipeline().addLast(setup.front).addLast("codec", codec).addLast(setup.behind);
        channel.pipeline().addLast(recorder);
        channel.writeInbound(channel.alloc().buffer().writeBytes(Hex.octets(greeting(setup.version, setup.theirs))));
        if (!codec.session().handshakeFuture().isDone()) {
            throw new IllegalStateException("handshake: incomplete (expected: over)");
        }
        channel.releaseOutbound();
    }

    /** Starts to describe a codec for a socket of type {@code ours}; its peer is a 3.1 one of a fitting type. */
    public static Setup as(ZMTPSocketType ours) {
        return new Setup(ours);
    }

    /** What a peer of this version and type sends until traffic begins: greeting, and READY or identity. */
    public static String greeting(ZMTPVersion version, ZMTPSocketType type) {
        String signature = "ff 00*7 01 7f ";
        return switch (version) {
            case ZMTP10 -> "01 00 ";
            case ZMTP20 -> signature + "01 0" + Integer.toHexString(type.code()) + " 00 00 ";
            case ZMTP30, ZMTP31 -> {
                String name = type.name();
                int value = name.length();
                String ready = "05 \"READY\" 0b \"Socket-Type\" 00*3 0" + value + " \"" + name + "\" ";
                int length = 6 + 12 + 4 + value;
                yield signature + "03 0" + version.minor() + " \"NULL\" 00*16 00*32 04 " + Integer.toHexString(length)
                        + " " + ready;
            }
        };
    }

    /** What was received, in words: {@code message 61 -} is one of the two frames "a" and nothing. Not released. */
    public static String describe(Object msg) {
        if (msg instanceof ZMTPMessage message) {
            StringBuilder out = new StringBuilder(message.refCnt() == 1 ? "message" : "message not ours alone");
            message.forEach(frame -> out.append(' ').append(frame.isReadable() ? ByteBufUtil.hexDump(frame) : "-"));
            return out.toString();
        }
        if (msg instanceof ZMTPSubscription subscription) {
            return (subscription.isSubscribe() ? "subscribe " : "cancel ") + ByteBufUtil.hexDump(subscription.topic());
        }
        if (msg instanceof ZMTPMembership membership) {
            return (membership.isJoin() ? "join " : "leave ") + ByteBufUtil.hexDump(membership.group());
        }
        return msg instanceof ByteBuf octets ? "octets " + ByteBufUtil.hexDump(octets) : String.valueOf(msg);
    }

    private static String take(Object msg) {
        try {
            return describe(msg);
        } finally {
            ReferenceCountUtil.release(msg);
        }
    }

    /** What {@link #describe} says of a message of these frames of text. */
    public static String message(String... frames) {
        return Arrays.stream(frames)
                .map(frame -> frame.isEmpty() ? "-" : ByteBufUtil.hexDump(frame.getBytes(StandardCharsets.UTF_8)))
                .collect(Collectors.joining(" ", "message ", ""));
    }

    /** Lets the octets that {@code hex} spells arrive in one read. */
    public InTraffic receive(String hex) {
        return receive(Hex.octets(hex));
    }

    /** Lets {@code octets} arrive in one read. */
    public InTraffic receive(byte[] octets) {
        channel.writeInbound(channel.alloc().buffer(octets.length + 1).writeBytes(octets));
        return this;
    }

    /** Writes without flush. */
    public ChannelFuture write(Object message) {
        return channel.write(message);
    }

    /** Writes a message with a frame for each text, without flush. */
    public ChannelFuture writeText(String... frames) {
        return channel.write(ZMTPMessage.fromUTF8(frames));
    }

    /** What has left since the last call, in hex. */
    public String sent() {
        return String.join("", sentPieces());
    }

    /** What has left since the last call, in hex, buffer by buffer. */
    public List<String> sentPieces() {
        List<String> pieces = new ArrayList<>();
        for (ByteBuf octets = channel.readOutbound(); octets != null; octets = channel.readOutbound()) {
            pieces.add(Hex.dump(octets));
        }
        return pieces;
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }

    /** Describes a connection before it starts. */
    public static final class Setup {
        private final ZMTPSocketType ours;
        private ZMTPSocketType theirs;
        private ZMTPVersion version = ZMTPVersion.ZMTP31;
        private UnaryOperator<ZMTPCodec.Builder> settings = UnaryOperator.identity();
        private ChannelHandler[] front = {};
        private ChannelHandler[] behind = {};
        private @Nullable ByteBufAllocator allocator;

        private Setup(ZMTPSocketType ours) {
            this.ours = ours;
            this.theirs = Arrays.stream(ZMTPSocketType.values())
                    .filter(ours::accepts)
                    .findFirst()
                    .orElseThrow();
        }

        /** The peer speaks no more than this version. */
        public Setup peer(ZMTPVersion version) {
            this.version = version;
            return this;
        }

        /** The peer is of this type. */
        public Setup peer(ZMTPSocketType theirs) {
            this.theirs = theirs;
            return this;
        }

        /** The codec has these settings. */
        public Setup set(UnaryOperator<ZMTPCodec.Builder> settings) {
            this.settings = settings;
            return this;
        }

        /** These handlers stand between the transport and the codec. */
        public Setup front(ChannelHandler... front) {
            this.front = front;
            return this;
        }

        /** These handlers stand behind the codec. */
        public Setup behind(ChannelHandler... behind) {
            this.behind = behind;
            return this;
        }

        /** The channel takes its buffers here. */
        public Setup allocator(ByteBufAllocator allocator) {
            this.allocator = allocator;
            return this;
        }

        /** Connects. */
        public InTraffic start() {
            return new InTraffic(this);
        }
    }
}
