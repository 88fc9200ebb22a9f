package dev.zmtp;

/**
 * A version of ZMTP. The constants are in ascending order, so {@code compareTo} tells the older from the newer.
 */
public enum ZMTPVersion {
    /** RFC 13: no version in the greeting, no socket types. What libzmq 2.x speaks. */
    ZMTP10(0, 0, ZMTPFraming.V1),
    /** RFC 15: what libzmq 3.x speaks. */
    ZMTP20(1, 0, ZMTPFraming.V2),
    /** RFC 23: commands and security mechanisms. What libzmq 4.0 to 4.3.2 and JeroMQ speak. */
    ZMTP30(3, 0, ZMTPFraming.V3),
    /** RFC 37: subscriptions as commands, heartbeats. What libzmq speaks since 4.3.3. */
    ZMTP31(3, 1, ZMTPFraming.V3);

    private final int revision;
    private final int minor;
    private final ZMTPFraming framing;

    ZMTPVersion(int revision, int minor, ZMTPFraming framing) {
        this.revision = revision;
        this.minor = minor;
        this.framing = framing;
    }

    /** The byte at offset 10 of the greeting: 0 for 1.0, 1 for 2.0, 3 for 3.x. */
    public int revision() {
        return revision;
    }

    /** The byte at offset 11 of a 3.x greeting; 0 for the older versions. */
    public int minor() {
        return minor;
    }

    /** How this version lays out frames. */
    public ZMTPFraming framing() {
        return framing;
    }

    /** Returns whether this version has commands, and with them READY, ERROR and security mechanisms: 3.0 and later. */
    public boolean hasCommands() {
        return framing == ZMTPFraming.V3;
    }

    /**
     * Returns whether subscriptions, heartbeats and group memberships travel as commands: 3.1. Before, a subscription
     * is a message, and there are no heartbeats.
     */
    public boolean hasTrafficCommands() {
        return this == ZMTP31;
    }
}
