package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy;
import io.netty.buffer.ByteBuf;
import java.time.Duration;

/** The rules of the socket types, and their default settings. */
public final class TypeRules {

    /** Number of bytes that a frame after the first counts, see {@link ZMTPConfig#maxMessageLength}. */
    static final int FRAME = 64;

    /** Unit of a TTL, in milliseconds. */
    private static final int TTL_UNIT = 100;

    private TypeRules() {}

    /** Returns whether the oldest messages make room for new messages. */
    public static boolean keepsNewest(OverflowPolicy policy) {
        return policy == OverflowPolicy.DROP_OLD || policy == OverflowPolicy.KEEP_LATEST;
    }

    public static OverflowPolicy overflowPolicy(ZMTPSocketType type) {
        return switch (type) {
            case PUB, XPUB, RADIO, XSUB -> OverflowPolicy.DROP_NEW;
            default -> OverflowPolicy.WAIT;
        };
    }

    /** Checks that a peer which is not being read, and which sends PINGs itself, is not considered dead in between. */
    public static void checkHeartbeats(ZMTPConfig codec) {
        Duration interval = codec.heartbeatInterval();
        Duration timeout = codec.heartbeatTimeout();
        if (!timeout.isZero() && timeout.compareTo(interval) <= 0) {
            throw new IllegalArgumentException(
                    "heartbeatTimeout: " + timeout + " (expected: more than the interval, " + interval + ")");
        }
        Duration ttl = codec.heartbeatTtl();
        Duration sent = Duration.ofMillis(ttl.toMillis() / TTL_UNIT * TTL_UNIT);
        if (!ttl.isZero() && sent.compareTo(interval) <= 0) { // the peer would wait for the next PING in vain
            throw new IllegalArgumentException("heartbeatTtl: " + ttl + " (expected: more than the interval, "
                    + interval + ", in tenths of a second)");
        }
    }

    /** Returns the default codec settings of sockets of this type. */
    public static ZMTPConfig codec(ZMTPSocketType type) {
        return ZMTPConfig.builderForSocket(type).build();
    }

    /** Checks that this setting is enabled only for a REQ. */
    public static void checkCorrelateRequests(ZMTPSocketType type, boolean correlates) {
        if (correlates && type != ZMTPSocketType.REQ) {
            throw new IllegalArgumentException("correlateRequests: true with " + type + " (expected: only with REQ)");
        }
    }

    /** Checks the policy for a full queue. */
    public static void checkOverflowPolicy(ZMTPSocketType type, OverflowPolicy policy) {
        boolean oneQueue = switch (type) {
            case PUSH, SCATTER, DEALER, REQ, CLIENT, PAIR, CHANNEL -> true;
            default -> false;
        };
        if (oneQueue && policy != OverflowPolicy.WAIT && policy != OverflowPolicy.DROP_NEW) {
            throw new IllegalArgumentException("overflowPolicy: " + policy + " (expected: WAIT or DROP_NEW with " + type
                    + ", whose peers share a queue)");
        }
        if (type == ZMTPSocketType.XSUB && policy == OverflowPolicy.WAIT) {
            throw new IllegalArgumentException(
                    "overflowPolicy: WAIT (expected: another one with XSUB, which never waits)");
        }
    }

    /** Checks the policy for messages that the application has not taken. */
    public static void checkReceiveOverflowPolicy(ZMTPSocketType type, ReceiveOverflowPolicy policy) {
        if (policy == ReceiveOverflowPolicy.WAIT) {
            return;
        }
        if (!receives(type)) {
            throw new IllegalArgumentException(
                    "receiveOverflowPolicy: " + policy + " (expected: WAIT with " + type + ", which does not receive)");
        }
        if (type == ZMTPSocketType.REQ || type == ZMTPSocketType.REP) {
            throw new IllegalArgumentException("receiveOverflowPolicy: " + policy + " (expected: WAIT with " + type
                    + ", because each request needs its reply)");
        }
    }

    public static boolean sends(ZMTPSocketType type) {
        return switch (type) {
            case PULL, GATHER, SUB, DISH -> false;
            default -> true;
        };
    }

    public static boolean receives(ZMTPSocketType type) {
        return switch (type) {
            case PUSH, SCATTER, PUB, RADIO -> false;
            default -> true;
        };
    }

    /** Returns whether the peers choose what they get, by topics or groups. */
    public static boolean publishes(ZMTPSocketType type) {
        return type.isPublisher() || type == ZMTPSocketType.RADIO;
    }

    /** Returns whether the first frame is the name of a peer. */
    public static boolean namesPeers(ZMTPSocketType type) {
        return switch (type) {
            case ROUTER, SERVER, PEER -> true;
            default -> false;
        };
    }

    /** Returns whether an application may send this message, with the name of a peer if the type has names. */
    public static boolean maySend(ZMTPSocketType type, ZMTPMessage message) {
        int frames = message.size();
        int most = maxFrames(type);
        int least = type == ZMTPSocketType.RADIO ? 2 : 1;
        boolean fits = sends(type) && frames >= least && frames <= (namesPeers(type) && most == 1 ? 2 : most);
        return fits
                && !isLikeSubscription(type, message)
                && (type != ZMTPSocketType.RADIO || Groups.isValid(message.frame(0)));
    }

    /** Returns whether publishers take this message of an XSUB for a subscription or its cancellation (RFC 29). */
    static boolean isLikeSubscription(ZMTPSocketType type, ZMTPMessage message) {
        if (type != ZMTPSocketType.XSUB) {
            return false;
        }
        ByteBuf first = message.frame(0);
        return first.refCnt() > 0 && first.isReadable() && (first.getByte(first.readerIndex()) & ~1) == 0;
    }

    /** Returns the length of a message of so many frames, as {@link ZMTPConfig#maxMessageLength} counts it. */
    public static long countedLength(long bytes, int frames) {
        return bytes + FRAME * (frames - 1L);
    }

    /** Maximum number of frames of a message, without the name of a peer. */
    static int maxFrames(ZMTPSocketType type) {
        return switch (type) {
            case CLIENT, SERVER, PEER, SCATTER, GATHER, CHANNEL -> 1;
            case RADIO, DISH -> 2;
            default -> Integer.MAX_VALUE;
        };
    }
}
