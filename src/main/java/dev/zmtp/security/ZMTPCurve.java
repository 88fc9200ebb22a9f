package dev.zmtp.security;

import java.security.SecureRandom;
import java.util.Objects;

/**
 * CURVE mechanism, which authenticates and encrypts with Curve25519 keys (RFC 25 and 26). Pass the result of
 * {@link #client} or {@link #server} to {@code mechanism(...)} of a config. Either side can be the side that connects.
 *
 * <p>The computations use either of two libraries. Bouncy Castle is an optional dependency. libsodium is a native
 * library, which Java 22 and later call directly, and earlier versions call through JNA, another optional dependency.
 * The system property {@code dev.zmtp.curve.primitives}, which is read once, selects the library:
 *
 * <ul>
 * <li>{@code auto}, the default: libsodium if it is available and can be called, otherwise Bouncy Castle. Java 22 and
 * later call libsodium only if the JVM's option {@code --enable-native-access} permits it
 * <li>{@code libsodium}, with or without that option
 * <li>{@code bouncycastle}
 * </ul>
 *
 * <p>If the library is missing or the property has another value, both methods throw an {@link IllegalStateException}.
 * The handshake is computed on the config's handshake executor.
 *
 * <p>The result keeps a reference to the key pair. Once the key pair is destroyed, new connections fail.
 */
public final class ZMTPCurve {

    /** Name in greetings and in authentication requests. */
    public static final String NAME = "CURVE";

    private static final SecureRandom RANDOM = new SecureRandom();

    private ZMTPCurve() {}

    /**
     * Returns the client side, which knows the server's public key and accepts no other server.
     *
     * @param server the server's public key
     * @param own the key pair of this side; the server authenticates its public key
     */
    public static ZMTPMechanism.Factory client(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
        PrimitivesChoice.require();
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(own, "own");
        return MechanismFactories.client(NAME, context -> new CurveClient(context, RANDOM, server, own));
    }

    /**
     * Returns the server side, whose public key the clients know. It queries the config's authenticator, which is
     * required, about the clients' keys.
     */
    public static ZMTPMechanism.Factory server(ZMTPCurveKeyPair own) {
        PrimitivesChoice.require();
        Objects.requireNonNull(own, "own");
        return MechanismFactories.server(NAME, context -> new CurveServer(context, RANDOM, own));
    }
}
