package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides which peers of ZMTP 3.0 get PINGs. Their version has no PING, but JeroMQ, NetMQ and older versions of libzmq
 * answer it, so it is worth trying. The key of a peer that closes its connection after its first PING, without having
 * answered it, is remembered, and such a peer gets no more PINGs.
 * <p>Used on the socket's event loop.
 */
public final class Pings {

    /** Maximum number of keys, so that strangers cannot make the set grow without bound. */
    private static final int MAX_KEYS = 1_024;

    /**
     * Maximum time between the first PING and an end of the connection that counts as the answer to it, in nanoseconds.
     */
    private static final long HANG_UP = TimeUnit.SECONDS.toNanos(5);

    private final Set<Object> keys = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Boolean> eldest) {
            return size() > MAX_KEYS;
        }
    });

    /**
     * Returns the key of an accepted connection, which is the host without the port, because the port differs each
     * time.
     */
    public static Object keyOf(Channel accepted) {
        SocketAddress address = accepted.remoteAddress();
        if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
            return inet.getAddress();
        }
        return address == null ? "unknown" : address;
    }

    /**
     * Returns the config for a peer with this key, which is an endpoint that is connected to, or a {@link #keyOf}.
     *
     * @param config config that the peer has if it gets PINGs
     */
    public ZMTPConfig config(Object peerKey, ZMTPConfig config) {
        if (!config.heartbeatZMTP30Peers() || !keys.contains(peerKey)) {
            return config;
        }
        ZMTPConfig.Builder silent = config.toBuilder().heartbeatZMTP30Peers(false);
        if (config.protocol() != ZMTPVersion.ZMTP31) { // no peer gets a PING, which needs no interval
            silent.heartbeatInterval(Duration.ZERO)
                    .heartbeatTimeout(Duration.ZERO)
                    .heartbeatTtl(Duration.ZERO);
        }
        return silent.build();
    }

    /** Returns a connection to a peer with this key and this config. */
    public Connection connection(Object peerKey, ZMTPConfig config) {
        return new Connection(peerKey, config);
    }

    /** A connection whose peer might answer its first PING by closing it. */
    public final class Connection {
        private final Object peerKey;
        private final ZMTPConfig config;

        private Connection(Object peerKey, ZMTPConfig config) {
            this.peerKey = peerKey;
            this.config = config;
        }

        /**
         * Called when the peer has closed the connection, {@code nanos} after the handshake.
         *
         * @param knowsPings whether it has answered a PING, or sent a PING itself
         */
        void hungUp(@Nullable ZMTPVersion version, boolean knowsPings, long nanos) {
            long interval = config.heartbeatInterval().toNanos();
            if (!knowsPings
                    && version == ZMTPVersion.ZMTP30
                    && config.heartbeatZMTP30Peers()
                    && nanos >= interval
                    && nanos - interval < HANG_UP) {
                keys.add(peerKey);
            }
        }
    }
}
