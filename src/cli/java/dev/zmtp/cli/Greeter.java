package dev.zmtp.cli;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.socket.endpoint.ConnectLog;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes handshakes with the peer at an endpoint. */
final class Greeter {

    /**
     * The result of a handshake.
     *
     * @param text the peer, or the reason why there is none
     * @param times how long it took; empty if there is no peer
     */
    record Outcome(int exitCode, String text, String times) {
        boolean isAlive() {
            return exitCode == ExitCode.OK;
        }

        String withTimes() {
            return times.isEmpty() ? text : text + "; " + times;
        }
    }

    /** The part of the codec's message for a peer that has another type than it should have. */
    private static final Pattern TYPE = Pattern.compile("^socket type: ([A-Z]+) ");

    /** Types that fit to the peers to which a DEALER does not. */
    private static final List<ZMTPSocketType> OTHERS = List.of(
            ZMTPSocketType.SUB,
            ZMTPSocketType.PUB,
            ZMTPSocketType.PUSH,
            ZMTPSocketType.PULL,
            ZMTPSocketType.REP,
            ZMTPSocketType.PAIR,
            ZMTPSocketType.CLIENT,
            ZMTPSocketType.SERVER,
            ZMTPSocketType.DISH,
            ZMTPSocketType.RADIO,
            ZMTPSocketType.SCATTER,
            ZMTPSocketType.GATHER,
            ZMTPSocketType.PEER,
            ZMTPSocketType.CHANNEL);

    /** Maximum time in which a PONG comes from a peer that sends one. */
    private static final Duration PONG = Duration.ofSeconds(1);

    private static final Duration PING_INTERVAL = Duration.ofMillis(20);

    private final SocketOptions options;
    private final String endpoint;
    private final Duration wait;

    Greeter(SocketOptions options, String endpoint, Duration wait) {
        this.options = options;
        this.endpoint = endpoint;
        this.wait = wait;
    }

    /** Makes a handshake with a peer as this type; null for a type that fits. */
    Outcome greet(@Nullable ZMTPSocketType as) throws InterruptedException {
        try {
            return connect(as == null ? ZMTPSocketType.DEALER : as);
        } catch (ZMTPSocketException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof ZMTPException refusal && refusal.code() == ZMTPException.Code.SOCKET_TYPE) {
                return ofAnotherType(refusal, as);
            }
            if (as == null && isAboutType(cause)) {
                Outcome other = asOtherTypes();
                if (other != null) {
                    return other;
                }
            }
            int code = e.reason() == ZMTPSocketException.Reason.TIMEOUT ? ExitCode.TIMEOUT : ExitCode.FAILED;
            return new Outcome(code, endpoint + ": " + reason(cause), "");
        }
    }

    /**
     * Returns whether the peer has ended a handshake without security. libzmq does so for a type that does not fit, and
     * its own type can be lost then.
     */
    private static boolean isAboutType(Throwable cause) {
        return cause instanceof ZMTPException e
                && e.code() == ZMTPException.Code.CLOSED
                && String.valueOf(e.getMessage()).contains("phase: mechanism NULL");
    }

    /** Returns the handshake of the first type that fits; null if none does. */
    private @Nullable Outcome asOtherTypes() throws InterruptedException {
        for (ZMTPSocketType type : OTHERS) {
            Outcome outcome = greet(type);
            if (outcome.isAlive() && !outcome.times().isEmpty()) {
                return outcome;
            }
        }
        return null;
    }

    private Outcome ofAnotherType(ZMTPException refusal, @Nullable ZMTPSocketType as) throws InterruptedException {
        Matcher type = TYPE.matcher(String.valueOf(refusal.getMessage()));
        ZMTPSocketType fits = type.find() ? fitting(ZMTPSocketType.ofName(type.group(1))) : null;
        if (as == null && fits != null) {
            return greet(fits);
        }
        return new Outcome(ExitCode.OK, endpoint + ": " + refusal.getMessage(), "");
    }

    private static @Nullable ZMTPSocketType fitting(@Nullable ZMTPSocketType peer) {
        for (ZMTPSocketType type : ZMTPSocketType.values()) {
            if (peer != null && type.accepts(peer)) {
                return type;
            }
        }
        return null;
    }

    private String reason(Throwable cause) {
        return cause instanceof ZMTPSocketException
                ? "no answer within " + wait.toMillis() + " ms"
                : ConnectLog.text(cause);
    }

    private Outcome connect(ZMTPSocketType as) throws InterruptedException {
        PingTimes times = new PingTimes();
        ZMTPSocket socket = ZMTPSocket.of(options.config(as)
                .connectTimeout(wait)
                .reconnectDelay(Duration.ZERO, Duration.ZERO)
                .linger(Duration.ZERO)
                .pipelineInitializer((at, pipeline) -> pipeline.addLast(times))
                .codec(codec -> codec.handshakeTimeout(wait).heartbeatInterval(PING_INTERVAL))
                .build());
        socket.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerUp) {
                times.handshakeEnded();
            }
        });
        try {
            ZMTPEndpoint connector = socket.connect(endpoint).sync(wait);
            times.await(PONG);
            return new Outcome(ExitCode.OK, text(Objects.requireNonNull(connector.peer())), times.text());
        } finally {
            socket.closeAsync(Duration.ZERO).join();
        }
    }

    private String text(ZMTPPeer peer) {
        ZMTPSession session = peer.session();
        ZMTPHandshake handshake =
                session == null ? null : session.handshakeFuture().getNow();
        StringBuilder text = new StringBuilder(endpoint + ": ");
        if (handshake != null) {
            text.append("ZMTP ")
                    .append(version(handshake.negotiatedVersion().name()))
                    .append(", ")
                    .append(handshake.mechanism())
                    .append(", ");
        }
        text.append(peer.socketType() == null ? "a peer that does not name its type" : peer.socketType());
        if (handshake != null && handshake.remoteIdentity().hasRemaining()) {
            text.append(", identity ").append(Quoted.print(Frames.bytes(handshake.remoteIdentity())));
        }
        return text.toString();
    }

    /** Returns {@code 3.1} for {@code ZMTP31}. */
    private static String version(String name) {
        return name.charAt(4) + "." + name.charAt(5);
    }

    /** Returns a time in the unit that fits, with three digits. */
    static String time(long nanos) {
        double value = nanos;
        String unit = "ns";
        if (nanos >= TimeUnit.SECONDS.toNanos(1)) {
            value /= 1e9;
            unit = "s";
        } else if (nanos >= TimeUnit.MILLISECONDS.toNanos(1)) {
            value /= 1e6;
            unit = "ms";
        } else if (nanos >= TimeUnit.MICROSECONDS.toNanos(1)) {
            value /= 1e3;
            unit = "us";
        }
        String form = unit.equals("ns") || value >= 100 ? "%.0f %s" : value >= 10 ? "%.1f %s" : "%.2f %s";
        return String.format(Locale.ROOT, form, value, unit);
    }
}
