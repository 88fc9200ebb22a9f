package dev.zmtp;

/** Version of ZMTP. The constants are in ascending order, so {@code compareTo} orders versions by age. */
public enum ZMTPVersion {
    /** RFC 13, without a version in the greeting and without socket types. Spoken by libzmq 2.x. */
    ZMTP10(0, 0, ZMTPFraming.V1),
    /** RFC 15, spoken by libzmq 3.x. */
    ZMTP20(1, 0, ZMTPFraming.V2),
    /** RFC 23, with commands and security mechanisms. Spoken by libzmq 4.0 to 4.3.2 and JeroMQ. */
    ZMTP30(3, 0, ZMTPFraming.V3),
    /** RFC 37, with subscriptions as commands and heartbeats. Spoken by libzmq since 4.3.3. */
    ZMTP31(3, 1, ZMTPFraming.V3);

    private final int revision;
    private final int minor;
    private final ZMTPFraming framing;

    ZMTPVersion(int revision, int minor, ZMTPFraming framing) {
        this.revision = revision;
        this.minor = minor;
        this.framing = framing;
    }

    /** Returns the byte at offset 10 of the greeting, which is 0 for 1.0, 1 for 2.0 and 3 for 3.x. */
    public int revision() {
        return revision;
    }

    /** Returns the byte at offset 11 of a 3.x greeting, or 0 for older versions. */
    public int minor() {
        return minor;
    }

    /** Returns the frame layout of this version. */
    public ZMTPFraming framing() {
        return framing;
    }

    /** Returns whether this is 3.0 or later, which has commands and with them READY, ERROR and security mechanisms. */
    public boolean hasCommands() {
        return framing == ZMTPFraming.V3;
    }

    /**
     * Returns whether this is 3.1, in which subscriptions, heartbeats and group memberships are sent as commands. In
     * older versions a subscription is a message, and there are no heartbeats.
     */
    public boolean hasTrafficCommands() {
        return this == ZMTP31;
    }
}
