package dev.zmtp.codec;

import java.nio.ByteBuffer;

/**
 * Creates identities for peers that announce none, so that a ROUTER can tell them apart. Such an identity is local: it
 * is not sent to the peer.
 */
@FunctionalInterface
public interface ZMTPIdentityGenerator {

    /**
     * Returns an identity that no other peer has: the bytes from position to limit. One that starts with a zero byte
     * cannot collide with an announced one (RFC 37, "The Identity Property").
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
