package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;

/** What each type of socket does: where its messages go, and what happens to those that arrive. */
final class Patterns {

    private Patterns() {}

    static Routing routing(SocketCore core) {
        return switch (core.type()) {
            case PUSH, SCATTER, DEALER, REQ, CLIENT -> new RoundRobin(core);
            case PAIR, CHANNEL -> new Exclusive(core);
            case PUB, XPUB, RADIO -> new FanOut(core, core.subscribers());
            case XSUB -> new ToAll();
            case ROUTER, SERVER, PEER -> new ByName(core);
            case PULL, GATHER, SUB, DISH, REP -> new Nowhere();
        };
    }

    static Reception reception(SocketCore core) {
        return switch (core.type()) {
            case PULL, PAIR, XSUB, XPUB, ROUTER -> new Everything(core);
            case GATHER, CLIENT, CHANNEL, SERVER, PEER -> new OneFrame(core);
            case SUB, DISH -> new Filtered(core);
            case DEALER, REQ -> new Answers(core);
            case REP -> new Enveloped(core);
            case PUSH, PUB, RADIO, SCATTER -> new Nothing();
        };
    }

    static ZMTPSlowPeer slowPeer(ZMTPSocketType type) {
        return switch (type) {
            case PUB, XPUB, RADIO, XSUB -> ZMTPSlowPeer.DROP_NEW;
            default -> ZMTPSlowPeer.WAIT;
        };
    }

    static boolean sends(ZMTPSocketType type) {
        return switch (type) {
            case PULL, GATHER, SUB, DISH -> false;
            default -> true;
        };
    }

    static boolean receives(ZMTPSocketType type) {
        return switch (type) {
            case PUSH, SCATTER, PUB, RADIO -> false;
            default -> true;
        };
    }

    /** Whether the first frame is the name of a peer. */
    static boolean namesPeers(ZMTPSocketType type) {
        return switch (type) {
            case ROUTER, SERVER, PEER -> true;
            default -> false;
        };
    }

    /** Whether an application may send a message of this many frames, including the name of a peer. */
    static boolean maySend(ZMTPSocketType type, int frames) {
        int most = maxFrames(type);
        int least = type == ZMTPSocketType.RADIO ? 2 : 1;
        return sends(type) && frames >= least && frames <= (namesPeers(type) && most == 1 ? 2 : most);
    }

    /** The greatest number of frames of a message, without the name of a peer. */
    static int maxFrames(ZMTPSocketType type) {
        return switch (type) {
            case CLIENT, SERVER, PEER, SCATTER, GATHER, CHANNEL -> 1;
            case RADIO, DISH -> 2;
            default -> Integer.MAX_VALUE;
        };
    }
}
