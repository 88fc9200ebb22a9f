package dev.zmtp.security;

import java.nio.charset.StandardCharsets;

/**
 * PLAIN: a user name and a password, in clear text (RFC 24). Give what these methods return to {@code mechanism(...)} of a
 * config. Which side is client and which server has nothing to do with who connects.
 *
 * <p>It neither encrypts nor protects from anyone on the way: use it inside TLS, or on networks that you trust.
 */
public final class ZMTPPlain {

    /** The most octets of a user name, and of a password. */
    public static final int MAX_LENGTH = 255;

    private ZMTPPlain() {}

    /**
     * Returns the side that has a user name and a password, both sent as UTF-8.
     *
     * @throws IllegalArgumentException if one of them is longer than 255 octets
     */
    public static ZMTPMechanism.Factory client(String userName, String password) {
        byte[] user = octets("user name", userName);
        byte[] secret = octets("password", password);
        return Secured.client(ZMTPAuthRequest.PLAIN, context -> new PlainClient(context, user, secret));
    }

    /** Returns the side that asks the config's authenticator, which there must be, about user names and passwords. */
    public static ZMTPMechanism.Factory server() {
        return Secured.server(ZMTPAuthRequest.PLAIN, PlainServer::new);
    }

    private static byte[] octets(String what, String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        if (octets.length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    what + " length: " + octets.length + " octets (expected: <= " + MAX_LENGTH + ")");
        }
        return octets;
    }
}
