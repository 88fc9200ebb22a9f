package dev.zmtp.security;

import java.security.SecureRandom;
import java.util.Objects;

/**
 * CURVE: authentication and encryption with keys of Curve25519 (RFC 25 and 26). Give what these methods return to
 * {@code mechanism(...)} of a config. Which side is client and which server has nothing to do with who connects.
 *
 * <p>Needs Bouncy Castle among the dependencies: without it these methods throw an {@link IllegalStateException}. The
 * handshake's computations run on the config's handshake executor.
 *
 * <p>A config that is built with the result keeps a reference to the key pair. Once that is destroyed, new connections fail.
 */
public final class ZMTPCurve {

    private static final SecureRandom RANDOM = new SecureRandom();

    private ZMTPCurve() {}

    /**
     * Returns the side that knows the server's public key, and talks to no one else.
     *
     * @param server the server's public key
     * @param own what the server knows this side by
     */
    public static ZMTPMechanism.Factory client(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
        BouncyCastle.require();
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(own, "own");
        return Secured.client(ZMTPAuthRequest.CURVE, context -> new CurveClient(context, RANDOM, server, own));
    }

    /**
     * Returns the side whose public key the clients know. It asks the config's authenticator, which there must be, about the
     * clients' keys.
     */
    public static ZMTPMechanism.Factory server(ZMTPCurveKeyPair own) {
        BouncyCastle.require();
        Objects.requireNonNull(own, "own");
        return Secured.server(ZMTPAuthRequest.CURVE, context -> new CurveServer(context, RANDOM, own));
    }
}
