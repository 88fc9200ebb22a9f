package dev.zmtp.socket;

import dev.zmtp.internal.socket.IpcTransport;
import dev.zmtp.internal.socket.SharedMemoryTransport;
import dev.zmtp.internal.socket.TcpTransport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A way to reach the endpoints of one scheme. The sockets have {@code tcp}, {@code ipc} and {@code shm} over NIO,
 * and {@code inproc}. {@link ZMTPSocketConfig.Builder#transport} adds another or replaces one, for example by epoll:
 *
 * <pre>{@code
 *   ZMTPTransport.tcp(EpollSocketChannel::new, EpollServerSocketChannel::new)
 * }</pre>
 *
 * <p>It is used on the event loops of many sockets, and has no state of any of them.
 */
public interface ZMTPTransport {

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

        /**
         * Returns all socket addresses of this endpoint, the best first. Called again for each attempt, on an executor
         * that may block if {@link #mayBlock} says so.
         *
         * @throws IOException if there is none, or if it must not be bound
         */
        List<? extends SocketAddress> resolve() throws IOException;

        /** Whether {@link #resolve} asks the network or the file system. */
        default boolean mayBlock() {
            return false;
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

    /** Returns the scheme {@code tcp} with these channels. */
    static ZMTPTransport tcp(Supplier<? extends Channel> channels, Supplier<? extends ServerChannel> serverChannels) {
        return new TcpTransport(channels, serverChannels);
    }

    /**
     * Returns the scheme {@code ipc}, Unix domain sockets, with these channels.
     *
     * @param addresses makes the address of a path, such as {@code DomainSocketAddress::new}; the path of an abstract
     *     name begins with the character 0
     */
    static ZMTPTransport ipc(
            Supplier<? extends Channel> channels,
            Supplier<? extends ServerChannel> serverChannels,
            Function<String, ? extends SocketAddress> addresses) {
        return new IpcTransport(channels, serverChannels, addresses);
    }

    /** Returns the scheme {@code shm}, memory that two processes share, with these channels. */
    static ZMTPTransport sharedMemory(
            Supplier<? extends Channel> channels, Supplier<? extends ServerChannel> serverChannels) {
        return new SharedMemoryTransport(channels, serverChannels);
    }
}
