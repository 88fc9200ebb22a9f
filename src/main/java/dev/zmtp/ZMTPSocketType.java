package dev.zmtp;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The socket types of ZeroMQ, and which of them may talk to each other (RFC 23 and 37, "The Socket-Type Property"; the
 * draft types: RFC 41, 48, 49, 51, 52).
 *
 * <p>The name of a constant is the value of the {@code Socket-Type} property on the wire.
 */
public enum ZMTPSocketType {
    /** One peer, both directions (RFC 31). */
    PAIR(0),
    /** Sends what its peers subscribed to (RFC 29). */
    PUB(1),
    /** Receives what it subscribed to (RFC 29). */
    SUB(2),
    /** Sends a request, then waits for the reply (RFC 28). */
    REQ(3),
    /** Replies to the peer that sent the request (RFC 28). */
    REP(4),
    /** Sends to and receives from all its peers in turn (RFC 28). */
    DEALER(5),
    /** Addresses each peer by its identity (RFC 28). */
    ROUTER(6),
    /** Receives from all its peers in turn (RFC 30). */
    PULL(7),
    /** Sends to all its peers in turn (RFC 30). */
    PUSH(8),
    /** As PUB, and sees the subscriptions (RFC 29). */
    XPUB(9),
    /** As SUB, and sends its subscriptions itself (RFC 29). */
    XSUB(10),
    /** Draft: single frames to a SERVER (RFC 41). */
    CLIENT(-1),
    /** Draft: single frames to CLIENTs by routing id (RFC 41). */
    SERVER(-1),
    /** Draft: sends to groups (RFC 48). */
    RADIO(-1),
    /** Draft: joins groups (RFC 48). */
    DISH(-1),
    /** Draft: single frames to GATHERs in turn (RFC 49). */
    SCATTER(-1),
    /** Draft: single frames from SCATTERs (RFC 49). */
    GATHER(-1),
    /** Draft: single frames to other PEERs by routing id (RFC 51). */
    PEER(-1),
    /** Draft: single frames with one CHANNEL (RFC 52). */
    CHANNEL(-1);

    private static final ZMTPSocketType[] VALUES = values();
    private static final Map<ZMTPSocketType, Set<ZMTPSocketType>> PEERS = new EnumMap<>(ZMTPSocketType.class);

    static {
        PEERS.put(PAIR, EnumSet.of(PAIR));
        PEERS.put(PUB, EnumSet.of(SUB, XSUB));
        PEERS.put(XPUB, EnumSet.of(SUB, XSUB));
        PEERS.put(SUB, EnumSet.of(PUB, XPUB));
        PEERS.put(XSUB, EnumSet.of(PUB, XPUB));
        PEERS.put(REQ, EnumSet.of(REP, ROUTER));
        PEERS.put(REP, EnumSet.of(REQ, DEALER));
        PEERS.put(DEALER, EnumSet.of(REP, DEALER, ROUTER));
        PEERS.put(ROUTER, EnumSet.of(REQ, DEALER, ROUTER));
        PEERS.put(PUSH, EnumSet.of(PULL));
        PEERS.put(PULL, EnumSet.of(PUSH));
        PEERS.put(CLIENT, EnumSet.of(SERVER));
        PEERS.put(SERVER, EnumSet.of(CLIENT));
        PEERS.put(RADIO, EnumSet.of(DISH));
        PEERS.put(DISH, EnumSet.of(RADIO));
        PEERS.put(SCATTER, EnumSet.of(GATHER));
        PEERS.put(GATHER, EnumSet.of(SCATTER));
        PEERS.put(PEER, EnumSet.of(PEER));
        PEERS.put(CHANNEL, EnumSet.of(CHANNEL));
    }

    private final int code;

    ZMTPSocketType(int code) {
        this.code = code;
    }

    /** Whether a socket of this type may be connected to one of type {@code peer}; the relation is symmetric. */
    public boolean accepts(ZMTPSocketType peer) {
        Set<ZMTPSocketType> peers = PEERS.get(this);
        return peers != null && peers.contains(peer);
    }

    /** Whether this is one of the eight draft types, which came with ZMTP 3.x; older versions have no code for them. */
    public boolean isDraft() {
        return code < 0;
    }

    /** Whether peers subscribe to sockets of this type: PUB and XPUB. */
    public boolean isPublisher() {
        return this == PUB || this == XPUB;
    }

    /** Whether sockets of this type subscribe: SUB and XSUB. */
    public boolean isSubscriber() {
        return this == SUB || this == XSUB;
    }

    /** Whether sockets of this type only send: messages that a peer sends them are dropped. */
    public boolean isSendOnly() {
        return this == PUB || this == PUSH || this == RADIO || this == SCATTER;
    }

    /** Whether the READY command of such a socket holds an Identity, which may be empty: REQ, DEALER and ROUTER. */
    public boolean announcesIdentity() {
        return this == REQ || this == DEALER || this == ROUTER;
    }

    /**
     * The byte for this type in a ZMTP 2.0 greeting. XPUB and XSUB appear as PUB and SUB (RFC 15).
     *
     * @throws IllegalStateException for a draft type
     */
    public int code() {
        if (isDraft()) {
            throw new IllegalStateException("socket type: " + this + " (expected: one with a code in ZMTP 2.0)");
        }
        return switch (this) {
            case XPUB -> PUB.code;
            case XSUB -> SUB.code;
            default -> code;
        };
    }

    /**
     * The type for this byte of a ZMTP 2.0 greeting, or null if there is none. libzmq sends 9 and 10 for XPUB and XSUB.
     */
    public static @Nullable ZMTPSocketType ofCode(int code) {
        return code >= 0 && code <= XSUB.code ? VALUES[code] : null;
    }

    /** The type of this exact name, or null if there is none. */
    public static @Nullable ZMTPSocketType ofName(String name) {
        for (ZMTPSocketType type : VALUES) {
            if (type.name().equals(name)) {
                return type;
            }
        }
        return null;
    }
}
