package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A socket of another implementation, with what the tests need of it. Settings come before {@link #bind} or
 * {@link #connect}. Whatever takes too long is an {@link AssertionError}.
 */
public interface PeerSocket {

    /** Sets the identity to announce. */
    void identity(String identity);

    /** Sets when PINGs are sent, the silence after one that ends the connection, and the TTL in each. */
    void heartbeat(Duration interval, Duration timeout, Duration ttl);

    /** Sets how long a handshake may take until the peer gives it up and connects again. */
    void handshakeInterval(Duration interval);

    /**
     * Sets how many messages wait to be sent, and how many received ones wait to be read, at most; 0 is without limit.
     */
    void queues(int sent, int received);

    /** Makes it a client of the mechanism PLAIN. */
    void plainClient(String user, String password);

    /** Makes it a server of the mechanism PLAIN, which asks the ZAP handler about this domain. */
    void plainServer(String domain);

    /** Makes it a client of the mechanism CURVE. */
    void curveClient(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own);

    /** Makes it a server of the mechanism CURVE, which asks the ZAP handler, if there is one, about this domain. */
    void curveServer(ZMTPCurveKeyPair own, String domain);

    /** Lets {@code decider} decide which peers are accepted, at all sockets of this peer. */
    void zapHandler(ZapDecider decider);

    /** Subscribes a SUB or an XSUB, or has a DISH join a group; also while it is connected. */
    void subscribe(String topic);

    /** Ends a subscription or a membership. */
    void unsubscribe(String topic);

    /**
     * Has an XPUB or XSUB take a message for a subscription by its first frame alone. Otherwise libzmq and JeroMQ, which
     * cannot do that, take every frame for one that looks like it, and tear the message.
     */
    default void wholeMessagesUpstream() {
        throw new UnsupportedOperationException("wholeMessagesUpstream: not with this implementation");
    }

    /** Has a REQ number its requests, with a frame before the delimiter, which a reply has to bring back. */
    default void correlate() {
        throw new UnsupportedOperationException("correlate: not with this implementation");
    }

    /** Has it send an empty message to each peer that it meets, which tells a ROUTER that it is there. */
    default void probeRouter() {
        throw new UnsupportedOperationException("probeRouter: not with this implementation");
    }

    /** Listens on a free port of the loopback interface, which is returned. */
    default int bind() {
        return Endpoints.port(bind(Endpoints.of(Endpoints.loopback(0))));
    }

    /** Listens on {@code endpoint}; returns the one that this has become, if any port will do. */
    String bind(String endpoint);

    /** Connects, in the background, to {@code port} on the loopback interface. */
    default void connect(int port) {
        connect(Endpoints.of(Endpoints.loopback(port)));
    }

    /** Connects, in the background, to {@code endpoint}. */
    void connect(String endpoint);

    /** Sends {@code message}, whose bytes are copied. */
    void send(ZMTPMessage message);

    /**
     * Sends {@code message}, whose bytes are copied, unless there is no room for it within {@code wait}; returns
     * whether it was taken.
     */
    boolean send(ZMTPMessage message, Duration wait);

    /** The next message. */
    default ZMTPMessage receive() {
        ZMTPMessage message = receive(Patience.LIMIT);
        if (message == null) {
            throw new AssertionError("message of the peer: none (expected: one within " + Patience.LIMIT + ")");
        }
        return message;
    }

    /** The next message, or null if there is none within {@code wait}. */
    @Nullable
    ZMTPMessage receive(Duration wait);

    /**
     * Lets the socket take up what its background threads have for it. A socket that listens sends its subscriptions to
     * a new peer only when its own thread calls it, whatever for.
     */
    void pump();

    /** The next event of this socket's monitor. */
    PeerEvent event();

    /** Waits until a connection of this socket has ended, be it during the handshake. */
    default void awaitEnd() {
        while (event().kind() == PeerEvent.Kind.SUCCEEDED) {
            // a beginning
        }
    }
}
