package dev.zmtp.internal.socket;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** The pattern of each type of socket: where its messages go, and what happens to those that arrive. */
final class Patterns {

    private Patterns() {}

    /**
     * Returns where the messages of a socket go.
     *
     * @param queuedAt the time that messages get which are queued now
     * @param isBound whether peers may come by themselves
     */
    static Routing routing(
            SocketContext context,
            Credit credit,
            SlowPeers slowPeers,
            Subscribers subscribers,
            LongSupplier queuedAt,
            BooleanSupplier isBound) {
        return switch (context.type()) {
            case PUSH, SCATTER, DEALER, REQ, CLIENT -> new RoundRobin(context, credit, slowPeers, queuedAt, isBound);
            case PAIR, CHANNEL -> new Exclusive(context, credit, slowPeers, queuedAt, isBound);
            case PUB, XPUB, RADIO -> new FanOut(context, subscribers);
            case XSUB -> new ToAll();
            case ROUTER, SERVER, PEER -> new ByName(context);
            case PULL, GATHER, SUB, DISH, REP -> new Nowhere();
        };
    }

    /** Returns what happens to the messages that a socket gets. */
    static Reception reception(SocketContext context, Inbox inbox, Subscriptions subscriptions, Requests requests) {
        return switch (context.type()) {
            case PULL, PAIR, XSUB, XPUB, ROUTER -> new Everything(inbox);
            case GATHER, CLIENT, CHANNEL, SERVER, PEER -> new OneFrame(inbox);
            case SUB, DISH -> new Filtered(context, inbox, subscriptions);
            case DEALER, REQ -> new Answers(context, inbox, requests);
            case REP -> new Enveloped(inbox);
            case PUSH, PUB, RADIO, SCATTER -> new Nothing();
        };
    }
}
