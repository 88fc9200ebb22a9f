package dev.zmtp.internal.admission;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** The address of a peer, which can be behind a proxy. */
public final class PeerAddress {

    /** The key that is public as {@code ZMTPCodec.PEER_ADDRESS}. */
    public static final AttributeKey<SocketAddress> KEY = AttributeKey.valueOf("dev.zmtp.codec.ZMTPCodec#PEER_ADDRESS");

    private PeerAddress() {}

    /** Returns the address set by a handler, otherwise the address of the other end of the connection. */
    public static @Nullable SocketAddress of(Channel channel) {
        SocketAddress known = channel.attr(KEY).get();
        return known == null ? channel.remoteAddress() : known;
    }
}
