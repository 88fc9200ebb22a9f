package dev.zmtp.testing;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Describes a codec, and starts a connection of it to a {@link ScriptedPeer} whose handshake is done. */
public final class InTraffic {

    private final ZMTPSocketType ours;
    private ZMTPSocketType theirs;
    private ZMTPVersion version = ZMTPVersion.ZMTP31;
    private UnaryOperator<ZMTPCodec.Builder> settings = UnaryOperator.identity();
    private ChannelHandler[] before = {};
    private ChannelHandler[] after = {};
    private @Nullable ByteBufAllocator allocator;

    private InTraffic(ZMTPSocketType ours) {
        this.ours = ours;
        this.theirs = Arrays.stream(ZMTPSocketType.values())
                .filter(ours::accepts)
                .findFirst()
                .orElseThrow();
    }

    /** Starts to describe a codec for a socket of type {@code ours}; its peer is a 3.1 one of a compatible type. */
    public static InTraffic as(ZMTPSocketType ours) {
        return new InTraffic(ours);
    }

    /** The peer speaks no more than this version. */
    public InTraffic peer(ZMTPVersion version) {
        this.version = version;
        return this;
    }

    /** The peer is of this type. */
    public InTraffic peer(ZMTPSocketType theirs) {
        this.theirs = theirs;
        return this;
    }

    /** The codec has these settings. */
    public InTraffic set(UnaryOperator<ZMTPCodec.Builder> settings) {
        this.settings = settings;
        return this;
    }

    /** These handlers stand between the transport and the codec. */
    public InTraffic before(ChannelHandler... before) {
        this.before = before;
        return this;
    }

    /** These handlers stand after the codec. */
    public InTraffic after(ChannelHandler... after) {
        this.after = after;
        return this;
    }

    /** The channel has this allocator. */
    public InTraffic allocator(ByteBufAllocator allocator) {
        this.allocator = allocator;
        return this;
    }

    /** Connects. What the codec sends during the handshake is dropped. */
    public ScriptedPeer start() {
        ZMTPCodec codec = settings.apply(ZMTPCodec.builder().socketType(ours)).build();
        EmbeddedChannel channel = new EmbeddedChannel();
        if (allocator != null) {
            channel.config().setAllocator(allocator);
        }
        ChannelHandler[] handlers = Stream.of(Arrays.stream(before), Stream.of(codec), Arrays.stream(after))
                .flatMap(each -> each)
                .toArray(ChannelHandler[]::new);
        ScriptedPeer peer = new ScriptedPeer(channel, handlers).send(ScriptedPeer.greeting(version, theirs));
        if (!codec.session().handshakeFuture().isDone()) {
            throw new IllegalStateException("handshake: incomplete (expected: done)");
        }
        channel.releaseOutbound();
        return peer;
    }
}
