package dev.zmtp.security;

import java.nio.charset.StandardCharsets;

/**
 * PLAIN mechanism, with a user name and a password in clear text (RFC 24). Pass the result of {@link #client} or
 * {@link #server} to {@code mechanism(...)} of a config. Either side can be the side that connects.
 *
 * <p>PLAIN does not encrypt. Use it inside TLS, or on networks that you trust.
 */
public final class ZMTPPlain {

    /** Name in greetings and in authentication requests. */
    public static final String NAME = "PLAIN";

    private static final int MAX_LENGTH = 255;

    private ZMTPPlain() {}

    /**
     * Returns the client side, which sends a user name and a password, both in UTF-8.
     *
     * @throws IllegalArgumentException if either is longer than 255 bytes
     */
    public static ZMTPMechanism.Factory client(String userName, String password) {
        byte[] user = bytes("user name", userName);
        byte[] secret = bytes("password", password);
        return MechanismFactories.client(NAME, context -> new PlainClient(context, user, secret));
    }

    /**
     * Returns the server side. It queries the config's authenticator, which is required, about user names and
     * passwords.
     */
    public static ZMTPMechanism.Factory server() {
        return MechanismFactories.server(NAME, PlainServer::new);
    }

    private static byte[] bytes(String what, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    what + " length: " + bytes.length + " bytes (expected: <= " + MAX_LENGTH + ")");
        }
        return bytes;
    }
}
