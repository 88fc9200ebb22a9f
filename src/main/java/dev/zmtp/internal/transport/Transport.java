package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way to reach the endpoints of one scheme: {@code tcp}, {@code ipc}, {@code shm} or {@code inproc}. It is used on
 * the event loops of many sockets, and has no state of any of them.
 */
public interface Transport {

    /** Returns what comes before {@code ://}, in lower case. */
    String scheme();

    /**
     * Parses what follows {@code ://}.
     *
     * @param text the text, which is not empty
     * @param bind true if the address is to be bound, false if it is to be connected to
     * @throws IllegalArgumentException if the text is not an address, with the value and what was expected
     */
    Address address(String text, boolean bind);

    /** Returns a new channel, which is not registered yet. */
    Channel channel();

    /** Returns a new server channel, which is not registered yet. */
    ServerChannel serverChannel();

    /** Whether the channels carry messages as objects, so that neither a codec nor a handshake is needed. */
    default boolean carriesMessages() {
        return false;
    }

    /** An endpoint of this transport. */
    interface Address {

        /** The party that {@link #resolve} asks, and so where it is called. */
        enum Asks {
            /** Nothing that blocks: it is called on the event loop. */
            NOTHING,
            /** The file system of this host. */
            FILES,
            /** A name service, which may be silent for a minute. */
            NAMES
        }

        /**
         * Returns all socket addresses of this endpoint, the best first. Called again for each attempt, where
         * {@link #asks} says.
         *
         * @throws IOException if there is none, or if it must not be bound
         */
        List<? extends SocketAddress> resolve() throws IOException;

        /** Returns what {@link #resolve} asks this time. Does not block. */
        default Asks asks() {
            return Asks.NOTHING;
        }

        /** Returns the address to connect from; null for any. */
        default @Nullable SocketAddress source() {
            return null;
        }

        /** Returns what follows {@code ://} when it is bound to {@code local}. */
        default String boundTo(SocketAddress local) {
            return toString();
        }

        /** Called when it is bound. */
        default void bound() {}

        /** Called when it is no longer bound, or did not come to be after {@link #resolve}. */
        default void unbound() {}

        /**
         * Calls {@code retry} each time something in this process has bound to this address, until the result is
         * closed. By default, it never does.
         */
        default AutoCloseable whenBound(Runnable retry) {
            return () -> {};
        }
    }
}
