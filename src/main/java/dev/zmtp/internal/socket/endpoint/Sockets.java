package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/** The common options of a socket's channels, and a close that only logs its failure. */
public final class Sockets {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Sockets");

    @SuppressWarnings("deprecation") // the name that also exists in Netty 4.1
    private static final ChannelOption<RecvByteBufAllocator> READS = ChannelOption.RCVBUF_ALLOCATOR;

    private Sockets() {}

    @SuppressWarnings("unchecked") // the builder accepts only values of the type of their option
    static void options(AbstractBootstrap<?, ?> bootstrap, ZMTPSocketConfig config, Endpoint endpoint) {
        if (bootstrap instanceof ServerBootstrap server) {
            server.childOption(READS, fairReads());
            if (endpoint.address().tcp() != null) {
                server.option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true);
            }
            config.options().forEach((option, value) -> {
                if (isOfListener(option)) {
                    server.option((ChannelOption<Object>) option, value);
                } else {
                    server.childOption((ChannelOption<Object>) option, value);
                }
            });
        } else if (bootstrap instanceof Bootstrap client) {
            client.option(READS, fairReads());
            if (endpoint.address().tcp() != null) {
                client.option(ChannelOption.TCP_NODELAY, true);
                if (endpoint.address().source() != null) {
                    client.option(ChannelOption.SO_REUSEADDR, true);
                }
            }
            config.options().forEach((option, value) -> {
                if (!isOfListener(option)) {
                    client.option((ChannelOption<Object>) option, value);
                }
            });
        }
    }

    /**
     * Reads a single buffer of each channel in turn instead of sixteen. A peer that sends at full speed keeps the other
     * peers of the event loop waiting while its messages are handled. A buffer has up to 64 KiB, which can be thousands
     * of messages.
     */
    private static RecvByteBufAllocator fairReads() {
        return new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(1);
    }

    private static boolean isOfListener(ChannelOption<?> option) {
        return ChannelOption.SO_BACKLOG.equals(option);
    }

    public static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            logger.debug("{} could not be closed", closeable, e);
        }
    }
}
