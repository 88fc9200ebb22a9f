package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A way to reach the endpoints of a scheme ({@code tcp}, {@code ipc}, {@code shm} or {@code inproc}). It is used on the
 * event loops of many sockets, and has no state of any of them.
 */
public interface Transport {

    /** Returns the part before {@code ://}, in lower case. */
    String scheme();

    /**
     * Parses the part after {@code ://}.
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

    /** Returns whether the channels carry messages as objects, so that neither a codec nor a handshake is needed. */
    default boolean carriesMessages() {
        return false;
    }

    /** An endpoint of this transport. */
    interface Address {

        /** The source that {@link #resolve} queries, which determines where it is called. */
        enum Asks {
            /** No blocking source. It is called on the event loop. */
            NOTHING,
            /** The file system of this host. */
            FILES,
            /** A name service, which can fail to respond for a minute. */
            NAMES
        }

        /**
         * Returns all socket addresses of this endpoint, the best first. Called again for each attempt, where
         * {@link #asks} specifies.
         *
         * @throws IOException if there is none, or if it must not be bound
         */
        List<? extends SocketAddress> resolve() throws IOException;

        /** Returns the source that {@link #resolve} queries this time. Does not block. */
        default Asks asks() {
            return Asks.NOTHING;
        }

        /** Returns the address to connect from; null for any. */
        default @Nullable SocketAddress source() {
            return null;
        }

        /** Returns the host and the port that are reached through TCP; null for other transports. */
        default @Nullable TcpAddress tcp() {
            return null;
        }

        /** Returns the part after {@code ://} of an endpoint that is bound to {@code local}. */
        default String boundTo(SocketAddress local) {
            return toString();
        }

        /**
         * Called after {@link #resolve}, before the address is bound with these permissions of its file.
         *
         * @throws IOException if peers could connect before the file has them
         */
        default void checkPermissions(Set<PosixFilePermission> permissions) throws IOException {}

        /**
         * Called when the address is bound.
         *
         * @param permissions permissions of its file, if it has one; null for those of any new file
         */
        default void bound(@Nullable Set<PosixFilePermission> permissions) {}

        /** Called when the address is no longer bound, or was not bound after {@link #resolve}. */
        default void unbound() {}

        /**
         * Calls {@code retry} each time a socket of this process has bound to this address, until the result is closed.
         * By default, it is never called.
         */
        default AutoCloseable whenBound(Runnable retry) {
            return () -> {};
        }
    }
}
