package dev.zmtp.socket;

import dev.zmtp.internal.socket.SocketCore;
import dev.zmtp.internal.socket.context.MessageCounts;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Surroundings;
import dev.zmtp.internal.transport.Transport;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** Opens sockets in a time of their own, and shows what is in them, for tests in other packages. */
public final class ClockedSockets {

    /** Makes the counts of an application's socket. */
    public static final Function<MessageCounts, ZMTPStats> STATS = ZMTPStats::new;

    private ClockedSockets() {}

    /** The context of a socket that is not there. */
    public static SocketContext context(ZMTPSocketConfig config, EventLoop eventLoop, LongSupplier nanoTime) {
        return new SocketContext(config, eventLoop, new Clock(nanoTime), STATS);
    }

    /** Surroundings with a clock of their own, and nothing random. */
    private record Clock(LongSupplier clock) implements Surroundings {

        @Override
        public long currentNanos() {
            return clock.getAsLong();
        }

        @Override
        public long random() {
            return 1;
        }

        @Override
        public Map<String, Transport> transports(Map<String, Transport> configured) {
            return configured;
        }
    }

    /** Adds a transport to the config, or replaces the one of its scheme. */
    public static ZMTPSocketConfig.Builder with(ZMTPSocketConfig.Builder config, Transport transport) {
        return config.transport(transport);
    }

    /** The inside of the socket. */
    public static SocketCore core(ZMTPSocket socket) {
        return socket.core();
    }
}
