package dev.zmtp.internal.socket.flight;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.Causes;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import java.net.SocketAddress;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The events, none of which has a byte of a message, a topic, a routing id or a user ID. Only {@link Flight} may use
 * this class, because it needs the module {@code jdk.jfr}.
 */
@SuppressWarnings({"unused", "NullAway.Init"}) // the recorder reads the fields of an event that is committed
final class FlightEvents {

    private static final int MAX_TEXT = 256;

    private FlightEvents() {}

    /** Begins the event; null if it is not enabled. */
    private static @Nullable Object begin(Event event) {
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }

    static @Nullable Object beginHandshake() {
        return begin(new Handshake());
    }

    static @Nullable Object beginConnection(FlightPeer peer, ZMTPStats before) {
        return begin(new Connection(peer, before));
    }

    static @Nullable Object beginRequest() {
        return begin(new Request());
    }

    static @Nullable Object beginServe() {
        return begin(new Serve());
    }

    /**
     * Returns the class of a failure and its reason. Its message can contain a routing id, or a text of a peer or an
     * authenticator.
     */
    static String causeOf(Throwable reported) {
        Throwable failure = Causes.unwrapped(reported);
        String type = failure.getClass().getName();
        if (failure instanceof ZMTPException its) {
            return type + ": " + its.code();
        }
        return failure instanceof ZMTPSocketException its ? type + ": " + its.reason() : type;
    }

    /** Returns the text without unprintable characters, and shortened. */
    private static String safe(@Nullable Object text) {
        String all = String.valueOf(text);
        return all.substring(0, Math.min(MAX_TEXT, all.length())).replaceAll("[^ -~]", "?");
    }

    private static String name(@Nullable Enum<?> constant) {
        return constant == null ? "unknown" : constant.name();
    }

    /** Event of a socket. */
    @Category("ZeroMQ")
    @StackTrace(false)
    abstract static class OfSocket extends Event {
        @Label("Socket Type")
        String socketType;

        final void commitFor(ZMTPSocketType type) {
            socketType = type.name();
            commit();
        }
    }

    /** Event of a connection. */
    abstract static class OfConnection extends OfSocket {
        @Label("Endpoint")
        String endpoint;

        @Label("Address")
        String address;

        final void of(String at, @Nullable SocketAddress peer) {
            endpoint = safe(at);
            address = safe(peer);
        }
    }

    @Name("dev.zmtp.Handshake")
    @Label("Handshake")
    @Threshold("20 ms")
    static final class Handshake extends OfConnection {
        @Label("Peer Type")
        String peerType;

        @Label("Version")
        String version;

        @Label("Mechanism")
        String mechanism;

        @Label("Accepted")
        boolean accepted;

        void end(FlightPeer peer) {
            end();
            if (shouldCommit()) {
                of(peer.endpoint(), peer.address());
                peerType = name(peer.peerType());
                version = peer.version() == null ? "inproc" : peer.version().name();
                mechanism = peer.mechanism() == null ? "inproc" : safe(peer.mechanism());
                accepted = peer.accepted();
                commitFor(peer.type());
            }
        }
    }

    @Name("dev.zmtp.Connection")
    @Label("Connection")
    static final class Connection extends OfConnection {
        @Label("Peer Type")
        String peerType;

        @Label("Received Messages")
        long received;

        @Label("Written Messages")
        long written;

        @Label("Dropped Messages")
        long dropped;

        @Label("Messages of Unknown Outcome")
        long unknown;

        @Label("Cause")
        String cause;

        /** @param before counts of the previous connections of the peer */
        Connection(FlightPeer peer, ZMTPStats before) {
            of(peer.endpoint(), peer.address());
            peerType = name(peer.peerType());
            // the counts at the end are added
            received = -before.received();
            written = -before.written();
            dropped = -before.dropped();
            unknown = -before.outcomeUnknown();
        }

        void end(ZMTPSocketType type, ZMTPStats stats, Throwable why) {
            end();
            if (shouldCommit()) {
                received += stats.received();
                written += stats.written();
                dropped += stats.dropped();
                unknown += stats.outcomeUnknown();
                cause = causeOf(why);
                commitFor(type);
            }
        }
    }

    /** Event of a request. */
    abstract static class OfRequest extends OfSocket {
        @Label("Result")
        String result;

        /** Commits the event, which has ended. */
        final void commitWith(ZMTPSocketType type, String how) {
            if (shouldCommit()) {
                result = how;
                commitFor(type);
            }
        }
    }

    @Name("dev.zmtp.Request")
    @Label("Request")
    @Threshold("10 ms")
    static final class Request extends OfRequest {}

    @Name("dev.zmtp.Serve")
    @Label("Served Request")
    @Threshold("10 ms")
    static final class Serve extends OfRequest {}

    @Name("dev.zmtp.HandshakeFailure")
    @Label("Handshake Failure")
    static final class HandshakeFailure extends OfConnection {
        @Label("Kind")
        String kind;

        @Label("Cause")
        String cause;

        @Label("Failures Not Reported Individually")
        long unreported;
    }

    @Name("dev.zmtp.Retry")
    @Label("Retry")
    static final class Retry extends OfConnection {
        @Label("Kind")
        String kind;

        @Label("Attempt")
        int attempt;

        @Label("Delay")
        @Timespan
        long delay;

        @Label("Cause")
        String cause;
    }

    @Name("dev.zmtp.SlowPeer")
    @Label("Slow Peer")
    static final class SlowPeer extends OfConnection {
        @Label("Queued Messages")
        long messages;

        @Label("Queued Bytes")
        @DataAmount
        long bytes;

        @Label("Age of the Oldest Message")
        @Timespan
        long oldestAge;
    }

    @Name("dev.zmtp.Dropped")
    @Label("Dropped Messages")
    static final class Dropped extends OfConnection {
        @Label("Reason")
        String reason;

        @Label("Messages")
        long messages;
    }

    @Name("dev.zmtp.BlockedEventLoop")
    @Label("Blocked Event Loop")
    @Category("ZeroMQ")
    @StackTrace(false)
    static final class BlockedEventLoop extends Event {
        @Label("Event Loop Thread")
        String eventLoopThread;

        @Label("At Least")
        @Timespan
        long atLeast;
    }

    static void blocked(String thread, long nanos) {
        BlockedEventLoop event = new BlockedEventLoop();
        if (event.isEnabled()) {
            event.eventLoopThread = safe(thread);
            event.atLeast = nanos;
            event.commit();
        }
    }

    static void fired(ZMTPSocketType type, ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.HandshakeFailed failed) {
            failed(type, failed);
        } else if (event instanceof ZMTPSocketEvent.Retrying retrying) {
            retrying(type, retrying);
        } else if (event instanceof ZMTPSocketEvent.SlowPeer slow) {
            slow(type, slow);
        } else if (event instanceof ZMTPSocketEvent.Dropped dropped) {
            dropped(type, dropped);
        }
    }

    private static void failed(ZMTPSocketType type, ZMTPSocketEvent.HandshakeFailed failed) {
        HandshakeFailure event = new HandshakeFailure();
        if (event.isEnabled()) {
            event.of(failed.endpoint(), failed.address());
            event.kind = Flight.lowerCase(failed.kind());
            event.cause = causeOf(failed.cause());
            event.unreported = failed.unreported();
            event.commitFor(type);
        }
    }

    private static void retrying(ZMTPSocketType type, ZMTPSocketEvent.Retrying retrying) {
        Retry event = new Retry();
        if (event.isEnabled()) {
            event.of(retrying.endpoint(), null);
            event.kind = Flight.lowerCase(retrying.kind());
            event.attempt = retrying.attempt();
            event.delay = retrying.delay().toNanos();
            event.cause = causeOf(retrying.cause());
            event.commitFor(type);
        }
    }

    private static void slow(ZMTPSocketType type, ZMTPSocketEvent.SlowPeer slow) {
        SlowPeer event = new SlowPeer();
        if (event.isEnabled()) {
            event.of(endpointOf(slow.peer()), addressOf(slow.peer()));
            event.messages = slow.messages();
            event.bytes = slow.bytes();
            event.oldestAge = slow.oldestAge().toNanos();
            event.commitFor(type);
        }
    }

    private static void dropped(ZMTPSocketType type, ZMTPSocketEvent.Dropped dropped) {
        Dropped event = new Dropped();
        if (event.isEnabled()) {
            event.of(endpointOf(dropped.peer()), addressOf(dropped.peer()));
            event.reason = Flight.lowerCase(dropped.reason());
            event.messages = dropped.messages();
            event.commitFor(type);
        }
    }

    private static String endpointOf(@Nullable ZMTPPeer peer) {
        return peer == null || peer.endpoint() == null
                ? "none"
                : peer.endpoint().text();
    }

    private static @Nullable SocketAddress addressOf(@Nullable ZMTPPeer peer) {
        ZMTPSession session = peer == null ? null : peer.session();
        return session == null ? null : session.peerAddress();
    }
}
