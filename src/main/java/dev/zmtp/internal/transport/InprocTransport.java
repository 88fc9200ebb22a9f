package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The {@code inproc://} transport, which passes messages by reference between sockets of a process. Names are shared by
 * the whole process.
 */
public final class InprocTransport implements Transport {

    /** Limit of the messages that an event loop has written and the other has not read. */
    private static final QueueLimit ON_THE_WAY = new QueueLimit(1_024, 16L << 20);

    /** Waiting connectors, by the name that they wait for. */
    private static final Map<String, Set<Runnable>> WAITING = new ConcurrentHashMap<>();

    @Override
    public String scheme() {
        return "inproc";
    }

    @Override
    public Address address(String text, boolean bind) {
        return new Name(text);
    }

    @Override
    public Channel channel() {
        return new InprocChannel(ON_THE_WAY);
    }

    @Override
    public ServerChannel serverChannel() {
        return new InprocServerChannel(ON_THE_WAY);
    }

    @Override
    public boolean carriesMessages() {
        return true;
    }

    private record Name(String text) implements Address {

        @Override
        public List<? extends SocketAddress> resolve() {
            return List.of(new InprocAddress(text));
        }

        @Override
        public void bound(@Nullable Set<PosixFilePermission> permissions) {
            WAITING.getOrDefault(text, Set.of()).forEach(Runnable::run);
        }

        @Override
        public AutoCloseable whenBound(Runnable retry) {
            WAITING.compute(text, (name, waiting) -> { // the set might be about to be removed
                Set<Runnable> its = waiting == null ? ConcurrentHashMap.newKeySet() : waiting;
                its.add(retry);
                return its;
            });
            return () -> WAITING.computeIfPresent(text, (name, waiting) -> {
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
