package dev.zmtp;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * ZeroMQ socket types, and the combinations that can be connected (RFC 23 and 37, "The Socket-Type Property"; for the
 * draft types RFC 41, 48, 49, 51 and 52).
 *
 * <p>The name of a constant is the value of the {@code Socket-Type} property on the wire.
 */
public enum ZMTPSocketType {
    /** Exchanges messages with a single peer, in both directions (RFC 31). */
    PAIR(0),
    /** Sends each message to the peers that have subscribed to its topic (RFC 29). */
    PUB(1),
    /** Receives the messages whose topics it has subscribed to (RFC 29). */
    SUB(2),
    /** Sends a request, then waits for the reply (RFC 28). */
    REQ(3),
    /** Replies to the peer that sent the request (RFC 28). */
    REP(4),
    /** Sends to all its peers in turn, and receives from them in turn (RFC 28). */
    DEALER(5),
    /** Addresses each peer by its identity (RFC 28). */
    ROUTER(6),
    /** Receives from all its peers in turn (RFC 30). */
    PULL(7),
    /** Sends to all its peers in turn (RFC 30). */
    PUSH(8),
    /** Like PUB. The application also receives the subscriptions, and messages from XSUBs (RFC 29). */
    XPUB(9),
    /** Like SUB, but does not filter received messages, and can also send messages to an XPUB (RFC 29). */
    XSUB(10),
    /** Exchanges single-frame messages with SERVERs (RFC 41, draft). */
    CLIENT(-1),
    /** Exchanges single-frame messages with CLIENTs, which it addresses by routing id (RFC 41, draft). */
    SERVER(-1),
    /** Sends each message to the DISHes that have joined its group (RFC 48, draft). */
    RADIO(-1),
    /** Receives the messages of the groups that it has joined (RFC 48, draft). */
    DISH(-1),
    /** Sends single-frame messages to GATHERs in turn (RFC 49, draft). */
    SCATTER(-1),
    /** Receives single-frame messages from SCATTERs in turn (RFC 49, draft). */
    GATHER(-1),
    /** Exchanges single-frame messages with other PEERs, which it addresses by routing id (RFC 51, draft). */
    PEER(-1),
    /** Exchanges single-frame messages with a single CHANNEL (RFC 52, draft). */
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

    /**
     * Returns whether a socket of this type can be connected to a socket of type {@code peer}. The relation is
     * symmetric.
     */
    public boolean accepts(ZMTPSocketType peer) {
        Set<ZMTPSocketType> peers = PEERS.get(this);
        return peers != null && peers.contains(peer);
    }

    /** Returns whether this is one of the eight draft types of ZMTP 3.x. Older versions have no code for them. */
    public boolean isDraft() {
        return code < 0;
    }

    /** Returns whether peers subscribe to sockets of this type, which is true for PUB and XPUB. */
    public boolean isPublisher() {
        return this == PUB || this == XPUB;
    }

    /** Returns whether sockets of this type subscribe, which is true for SUB and XSUB. */
    public boolean isSubscriber() {
        return this == SUB || this == XSUB;
    }

    /** Returns whether sockets of this type only send. Messages that a peer sends to them are dropped. */
    public boolean isSendOnly() {
        return this == PUB || this == PUSH || this == RADIO || this == SCATTER;
    }

    /**
     * Returns true for REQ, DEALER and ROUTER. Their READY command contains an Identity property, which can be empty.
     */
    public boolean announcesIdentity() {
        return this == REQ || this == DEALER || this == ROUTER;
    }

    /**
     * Returns the byte for this type in a ZMTP 2.0 greeting. XPUB and XSUB appear as PUB and SUB (RFC 15).
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
     * Returns the type for this byte of a ZMTP 2.0 greeting, or null if there is none. The codes 9 and 10, which libzmq
     * sends, are XPUB and XSUB.
     */
    public static @Nullable ZMTPSocketType ofCode(int code) {
        return code >= 0 && code <= XSUB.code ? VALUES[code] : null;
    }

    /** Returns the type of this exact name, or null if there is none. */
    public static @Nullable ZMTPSocketType ofName(String name) {
        for (ZMTPSocketType type : VALUES) {
            if (type.name().equals(name)) {
                return type;
            }
        }
        return null;
    }
}
