package dev.zmtp.internal.socket;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.publish.FanOut;
import dev.zmtp.internal.socket.publish.Filtered;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.internal.socket.publish.Subscriptions;
import dev.zmtp.internal.socket.receive.Everything;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Nothing;
import dev.zmtp.internal.socket.receive.OneFrame;
import dev.zmtp.internal.socket.receive.Reception;
import dev.zmtp.internal.socket.receive.Upstream;
import dev.zmtp.internal.socket.request.Answers;
import dev.zmtp.internal.socket.request.Enveloped;
import dev.zmtp.internal.socket.request.Requests;
import dev.zmtp.internal.socket.send.ByName;
import dev.zmtp.internal.socket.send.Credit;
import dev.zmtp.internal.socket.send.Exclusive;
import dev.zmtp.internal.socket.send.Nowhere;
import dev.zmtp.internal.socket.send.RoundRobin;
import dev.zmtp.internal.socket.send.Routing;
import dev.zmtp.internal.socket.send.ToAll;
import java.util.function.BooleanSupplier;

/** The pattern of each socket type, with the routing of its messages and the handling of received messages. */
final class Patterns {

    private Patterns() {}

    /**
     * Returns the routing of a socket.
     *
     * @param isBound whether peers can connect to this socket
     */
    static Routing routing(SocketContext context, Credit credit, Subscribers subscribers, BooleanSupplier isBound) {
        return switch (context.type()) {
            case PUSH, SCATTER, DEALER, REQ, CLIENT -> new RoundRobin(context, credit, isBound);
            case PAIR, CHANNEL -> new Exclusive(context, credit, isBound);
            case PUB, XPUB, RADIO -> new FanOut(context, subscribers);
            case XSUB -> new ToAll(context);
            case ROUTER, SERVER, PEER -> new ByName(context);
            case PULL, GATHER, SUB, DISH, REP -> new Nowhere();
        };
    }

    /** Returns the handling of the messages that a socket receives. */
    static Reception reception(SocketContext context, Inbox inbox, Subscriptions subscriptions, Requests requests) {
        return switch (context.type()) {
            case PULL, PAIR, XSUB, ROUTER -> new Everything(context, inbox);
            case XPUB -> new Upstream(context, inbox);
            case GATHER, CLIENT, CHANNEL, SERVER, PEER -> new OneFrame(context, inbox);
            case SUB, DISH -> new Filtered(context, inbox, subscriptions);
            case DEALER, REQ -> new Answers(context, inbox, requests);
            case REP -> new Enveloped(inbox);
            case PUSH, PUB, RADIO, SCATTER -> new Nothing();
        };
    }
}
