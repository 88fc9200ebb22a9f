package dev.zmtp.codec;

import java.nio.ByteBuffer;

/**
 * Creates identities for anonymous peers, so that a ROUTER can distinguish them. Such an identity is local and is not
 * sent to the peer. It is the {@link ZMTPSession#peerIdentity()}; the routing ids of a
 * {@link dev.zmtp.socket.ZMTPSocket} are created by the socket.
 */
@FunctionalInterface
public interface ZMTPIdentityGenerator {

    /**
     * Returns an identity that no other peer has, as the bytes from position to limit. RFC 37 ("The Identity Property")
     * reserves identities that start with a zero byte for generated identities. Some peers announce such identities
     * anyway, so a leading zero byte alone does not make an identity unique. {@link ZMTPSession#isPeerAnonymous()}
     * reports whether an identity was generated on this side.
     *
     * <p>Called on the channel's event loop, at most once per session. Generators are shared by channels and must be
     * thread safe.
     */
    ByteBuffer generateIdentity(ZMTPSession session);

    /**
     * Returns the default generator. Its identities have nine bytes, a zero and a counter that starts at a random
     * number. All codecs of the class loader share it, so its identities are unique among these codecs.
     */
    static ZMTPIdentityGenerator sequential() {
        return SequentialIdentities.INSTANCE;
    }
}
