package dev.zmtp.internal.socket.flight;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Records events of sockets with the JDK's Flight Recorder. Without the module {@code jdk.jfr}, it does nothing.
 * Events with a duration are begun here, kept by the caller as an {@link Object}, and ended here. From any thread.
 */
public final class Flight {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Flight");

    private static final boolean AVAILABLE = isAvailable();

    private Flight() {}

    private static boolean isAvailable() {
        try {
            FlightRecorder.isInitialized();
            return true;
        } catch (Throwable e) { // mostly because the runtime has no such module
            logger.debug("Sockets are not recorded by the Flight Recorder", e);
            return false;
        }
    }

    /** Returns whether there was a recording. Before the first, no event class is loaded, which would take 0.1 s. */
    private static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    /** Begins an event of a handshake; null if it is not recorded. */
    public static @Nullable Object beginHandshake() {
        return isOn() ? guard(FlightEvents::beginHandshake) : null;
    }

    /** Ends the event of a handshake that has succeeded, and begins that of the connection; null if not recorded. */
    public static @Nullable Object connected(@Nullable Object begun, FlightPeer facts, ZMTPPeer peer) {
        if (begun != null) {
            attempt(() -> ((FlightEvents.Handshake) begun).end(facts));
        }
        return isOn() ? guard(() -> FlightEvents.beginConnection(facts, peer.stats())) : null;
    }

    /** Ends the event of a connection. */
    public static void ended(@Nullable Object begun, ZMTPSocketType type, ZMTPPeer peer, Throwable cause) {
        if (begun != null) {
            attempt(() -> ((FlightEvents.Connection) begun).end(type, peer.stats(), cause));
        }
    }

    /** Begins an event of a request that the socket makes; null if it is not recorded. */
    public static @Nullable Object beginRequest() {
        return isOn() ? guard(FlightEvents::beginRequest) : null;
    }

    /** Ends the event of a request. */
    public static void requestEnds(Object begun) {
        attempt(() -> ((FlightEvents.Request) begun).end());
    }

    /** Records a request whose event has ended. */
    public static void request(Object begun, ZMTPSocketType type, @Nullable Throwable failure) {
        attempt(() -> ((FlightEvents.Request) begun).commitWith(type, result(failure)));
    }

    /** Begins an event of a request that the socket serves; null if it is not recorded. */
    public static @Nullable Object beginServe() {
        return isOn() ? guard(FlightEvents::beginServe) : null;
    }

    /** Ends the event of a request that was served. */
    public static void serve(@Nullable Object begun, ZMTPSocketType type, Enum<?> outcome) {
        if (begun != null) {
            FlightEvents.Serve event = (FlightEvents.Serve) begun;
            attempt(() -> {
                event.end();
                event.commitWith(type, lowerCase(outcome));
            });
        }
    }

    /** Records what the socket reports, if it is one of the events that are recorded. */
    public static void fired(ZMTPSocketType type, ZMTPSocketEvent event) {
        if (isOn()) {
            attempt(() -> FlightEvents.fired(type, event));
        }
    }

    /** Records that a task has blocked an event loop for at least this long. */
    public static void blocked(String thread, long nanos) {
        if (isOn()) {
            attempt(() -> FlightEvents.blocked(thread, nanos));
        }
    }

    /** A failure of the recorder must not end a connection or lose a request. */
    private static void attempt(Runnable record) {
        guard(() -> {
            record.run();
            return null;
        });
    }

    private static @Nullable Object guard(Supplier<@Nullable Object> event) {
        try {
            return event.get();
        } catch (Throwable e) {
            logger.debug("The Flight Recorder did not record an event", e);
            return null;
        }
    }

    /** Returns the result of a request: {@code ok}, a reason in lower case, {@code cancelled} or {@code error}. */
    static String result(@Nullable Throwable failure) {
        if (failure == null) {
            return "ok";
        }
        if (failure instanceof ZMTPSocketException socketFailure) {
            return lowerCase(socketFailure.reason());
        }
        return failure instanceof CancellationException ? "cancelled" : "error";
    }

    static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
