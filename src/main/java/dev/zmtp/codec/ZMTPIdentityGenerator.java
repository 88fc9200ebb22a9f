package dev.zmtp.codec;

import java.nio.ByteBuffer;

/**
 * Makes identities for peers that announce none, so that a ROUTER can tell them apart. Such an identity is local: it never
 * crosses the wire of the connection that it names.
 */
@FunctionalInterface
public interface ZMTPIdentityGenerator {

    /**
     * Returns an identity that no other peer has: its octets are those from position to limit. One that starts with a zero
     * octet cannot collide with an announced one (RFC 37, "The Identity Property").
     *
     * <p>Called on the channel's event loop, at most once for a session, and shared by channels: must be thread safe.
     */
    ByteBuffer generateIdentity(ZMTPSession session);

    /**
     * Returns a generator of nine octets: a zero and a counter that starts anywhere. All codecs of the class loader share
     * it, so its identities are unique among them. The default.
     */
    static ZMTPIdentityGenerator sequential() {
        return SequentialIdentities.INSTANCE;
    }
}
