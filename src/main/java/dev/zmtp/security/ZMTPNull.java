package dev.zmtp.security;

/**
 * NULL, without authentication and encryption (RFC 23 and 37, "The NULL Security Mechanism"). The default of a config.
 *
 * <p>An authenticator can still refuse peers, by their address or TLS certificate.
 */
public final class ZMTPNull {

    /** Name in greetings and in authentication requests. */
    public static final String NAME = "NULL";

    private ZMTPNull() {}

    /** Returns the mechanism, the same for both sides. Pass it to {@code mechanism(...)} of a config. */
    public static ZMTPMechanism.Factory mechanism() {
        return NullMechanism::new;
    }
}
