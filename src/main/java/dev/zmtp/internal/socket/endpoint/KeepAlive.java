package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * TCP's own probes of an idle connection, for a socket with heartbeats. They find a dead peer in cases where no PING
 * does, which are a peer that never answers PINGs and a peer that gets none because it is not being read. TCP itself
 * finds a peer that owes acknowledgements. Used on the event loop.
 */
final class KeepAlive {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.KeepAlive");

    private static final int PROBES = 3;

    private final boolean on;
    private final int idle;
    private final int between;

    /** Options of each kind of channel, whose names are similar. To look for them takes many system calls. */
    private static final ClassValue<AtomicReference<@Nullable Times>> TIMES = new ClassValue<>() {
        @Override
        protected AtomicReference<@Nullable Times> computeValue(Class<?> type) {
            return new AtomicReference<>();
        }
    };

    /** The options that a kind of channel has. */
    private record Times(
            List<ChannelOption<Integer>> idle,
            List<ChannelOption<Integer>> between,
            List<ChannelOption<Integer>> probes) {}

    /**
     * Probes a connection when a PING would be due, and then for as long as a PING may remain unanswered.
     *
     * @param codec settings of the connection, which can differ from those of the socket
     */
    KeepAlive(ZMTPSocketConfig config, ZMTPConfig codec) {
        // The user's options are set before the handlers are added, and are retained.
        boolean isUsers = config.options().keySet().stream()
                .anyMatch(option -> option.name().contains("KEEP"));
        on = !isUsers
                && !codec.heartbeatInterval().isZero()
                && !codec.heartbeatTimeout().isZero();
        idle = seconds(codec.heartbeatInterval().toSeconds());
        between = seconds(codec.heartbeatTimeout().toSeconds() / PROBES);
    }

    /** Returns a value for the kernel, which takes whole seconds, at least one, in 15 bits. */
    private static int seconds(long seconds) {
        return (int) Math.min(Math.max(seconds, 1), Short.MAX_VALUE);
    }

    /** Enables the probes if {@code channel} uses TCP. */
    void set(Channel channel) {
        if (on && channel.config() instanceof SocketChannelConfig config && channel.isOpen()) {
            try {
                config.setOption(ChannelOption.SO_KEEPALIVE, true);
                AtomicReference<@Nullable Times> known = TIMES.get(channel.getClass());
                Times times = known.get();
                if (times == null) {
                    times = times(config);
                    known.set(times);
                }
                times.idle.forEach(option -> config.setOption(option, idle));
                times.between.forEach(option -> config.setOption(option, between));
                times.probes.forEach(option -> config.setOption(option, PROBES));
            } catch (ChannelException e) { // the system has no such option; the connection matters more
                logger.debug("Connections are not kept alive by TCP", e);
            }
        }
    }

    /** NIO uses the names of the JDK. Epoll and io_uring use the names of Linux, after the name of a class. */
    @SuppressWarnings("unchecked")
    private static Times times(ChannelConfig config) {
        Times found = new Times(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        config.getOptions().forEach((option, value) -> {
            if (value instanceof Integer) {
                String name = option.name().substring(option.name().indexOf('#') + 1);
                switch (name) {
                    case "TCP_KEEPIDLE" -> found.idle.add((ChannelOption<Integer>) option);
                    case "TCP_KEEPINTVL", "TCP_KEEPINTERVAL" -> found.between.add((ChannelOption<Integer>) option);
                    case "TCP_KEEPCNT", "TCP_KEEPCOUNT" -> found.probes.add((ChannelOption<Integer>) option);
                    default -> {}
                }
            }
        });
        return found;
    }
}
