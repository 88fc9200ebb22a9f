package dev.zmtp.internal.transport;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The {@code inproc://} transport, which passes messages by reference between sockets of a process, and a transport
 * like it that passes the bytes of a codec. Names are shared by the whole process, or by the sockets of a scope.
 */
public final class InprocTransport implements Transport {

    /** Limit of the messages that an event loop has written and the other has not read. */
    private static final QueueLimit ON_THE_WAY = new QueueLimit(1_024, 16L << 20);

    /** Limit of the bytes on the way, which takes the place of the kernel's buffers. */
    private static final QueueLimit BYTES_ON_THE_WAY = new QueueLimit(1_024, 64 << 10);

    /** Waiting connectors in the order of their arrival, by the name that they wait for. */
    private static final Map<InprocAddress, Set<Runnable>> WAITING = new ConcurrentHashMap<>();

    private final String scheme;
    private final Object scope;
    private final boolean carriesMessages;
    private final QueueLimit limit;

    /** Creates the transport whose names are shared by the whole process. */
    public InprocTransport() {
        this("inproc", InprocAddress.PROCESS, true, ON_THE_WAY);
    }

    private InprocTransport(String scheme, Object scope, boolean carriesMessages, QueueLimit limit) {
        this.scheme = scheme;
        this.scope = scope;
        this.carriesMessages = carriesMessages;
        this.limit = limit;
    }

    /** Returns the {@code inproc://} transport of the sockets of this scope. */
    public static InprocTransport ofMessages(Object scope) {
        return new InprocTransport("inproc", scope, true, ON_THE_WAY);
    }

    /**
     * Returns a transport of the sockets of this scope that carries bytes. As over a network, peers have a codec and a
     * handshake, and a connector finds out by trying that an address is bound.
     */
    public static InprocTransport ofBytes(String scheme, Object scope) {
        return new InprocTransport(scheme, scope, false, BYTES_ON_THE_WAY);
    }

    /**
     * Ends both ends of a connection, as a failure of the network would. What is on its way is lost.
     *
     * @param channel a channel of this transport, whose ends have the same event loop. Called on this event loop
     */
    public static void cut(Channel channel) {
        ((InprocChannel) channel).cut();
    }

    /**
     * Passes a message to the other end at once if nothing waits before it, and takes ownership of it. Otherwise
     * returns false, and it is to be written. Called on the event loop.
     *
     * @param channel a channel of this transport
     */
    @CheckReturnValue
    public static boolean pass(Channel channel, ZMTPMessage message) {
        return ((InprocChannel) channel).pass(message);
    }

    /** Announces passed messages to the other end, as a flush does with those that were written. */
    public static void flushPassed(Channel channel) {
        ((InprocChannel) channel).flushPassed();
    }

    @Override
    public String scheme() {
        return scheme;
    }

    @Override
    public Address address(String text, boolean bind) {
        return new Name(text, new InprocAddress(scope, scheme + "://" + text), carriesMessages);
    }

    @Override
    public Channel channel() {
        return new InprocChannel(limit);
    }

    @Override
    public ServerChannel serverChannel() {
        return new InprocServerChannel(limit);
    }

    @Override
    public boolean carriesMessages() {
        return carriesMessages;
    }

    /** @param isAwaited whether connectors wait for the name to be bound */
    private record Name(String text, InprocAddress address, boolean isAwaited) implements Address {

        @Override
        public List<? extends SocketAddress> resolve() {
            return List.of(address);
        }

        @Override
        public void bound(@Nullable Set<PosixFilePermission> permissions) {
            List<Runnable> all = new ArrayList<>();
            WAITING.computeIfPresent(address, (name, waiting) -> {
                all.addAll(waiting);
                return waiting;
            });
            all.forEach(Runnable::run);
        }

        @Override
        public AutoCloseable whenBound(Runnable retry) {
            if (!isAwaited) {
                return Address.super.whenBound(retry);
            }
            WAITING.compute(address, (name, waiting) -> {
                Set<Runnable> its = waiting == null ? new LinkedHashSet<>() : waiting;
                its.add(retry);
                return its;
            });
            return () -> WAITING.computeIfPresent(address, (name, waiting) -> {
                waiting.remove(retry);
                return waiting.isEmpty() ? null : waiting;
            });
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
