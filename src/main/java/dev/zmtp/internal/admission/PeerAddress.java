package dev.zmtp.internal.admission;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** The address of a peer, which may be behind a proxy. */
public final class PeerAddress {

    /** What users know as {@code ZMTPCodec.PEER_ADDRESS}. */
    public static final AttributeKey<SocketAddress> KEY = AttributeKey.valueOf("dev.zmtp.codec.ZMTPCodec#PEER_ADDRESS");

    private PeerAddress() {}

    /** The address as a handler has set it, otherwise that of the other end of the connection. */
    public static @Nullable SocketAddress of(Channel channel) {
        SocketAddress known = channel.attr(KEY).get();
        return known == null ? channel.remoteAddress() : known;
    }
}
