package dev.zmtp.codec;

import java.nio.ByteBuffer;

/**
 * Creates identities for peers that announce none, so that a ROUTER can tell them apart. Such an identity is local: it
 * is not sent to the peer.
 */
@FunctionalInterface
public interface ZMTPIdentityGenerator {

    /**
     * Returns an identity that no other peer has: the bytes from position to limit. RFC 37 ("The Identity Property")
     * reserves those that start with a zero byte for it. Peers announce such ones nevertheless, so that alone does not
     * make it unique. {@link ZMTPSession#isPeerAnonymous()} says whether an identity was made here.
     *
     * <p>Called on the channel's event loop, at most once per session. Generators are shared by channels and must be
     * thread safe.
     */
    ByteBuffer generateIdentity(ZMTPSession session);

    /**
     * Returns the default generator. An identity has nine bytes: a zero, and a counter that starts at a random number.
     * All codecs of the class loader share it, so its identities are unique among them.
     */
    static ZMTPIdentityGenerator sequential() {
        return SequentialIdentities.INSTANCE;
    }
}
