package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Decides which peers of ZMTP 3.0 get PINGs. Their version has no PING, but JeroMQ, NetMQ and older versions of libzmq
 * answer it, so it is worth trying. The key of a peer that closes its connection after its first PING is remembered,
 * and such a peer gets no more PINGs.
 * <p>Used on the socket's event loop.
 */
public final class Pings {

    /** Maximum number of keys, so that strangers cannot make the set grow without bound. */
    private static final int MAX_KEYS = 1_024;

    /**
     * Maximum time between the first PING and an end of the connection that counts as the answer to it, in nanoseconds.
     */
    private static final long HANG_UP = TimeUnit.SECONDS.toNanos(5);

    private final ZMTPConfig asking;
    private final ZMTPConfig silent;
    private final Set<Object> keys = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Boolean> eldest) {
            return size() > MAX_KEYS;
        }
    });

    public Pings(ZMTPConfig config) {
        this.asking = config;
        this.silent = config.heartbeatZMTP30Peers()
                ? config.toBuilder().heartbeatZMTP30Peers(false).build()
                : config;
    }

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

    /** Returns the config for a peer with this key, which is an endpoint that is connected to, or a {@link #keyOf}. */
    public ZMTPConfig config(Object peerKey) {
        return keys.contains(peerKey) ? silent : asking;
    }

    /** Called when the peer has closed its connection, {@code nanos} after the handshake. */
    void hungUp(Object peerKey, ZMTPVersion version, long nanos) {
        long interval = asking.heartbeatInterval().toNanos();
        if (version == ZMTPVersion.ZMTP30
                && asking.heartbeatZMTP30Peers()
                && nanos >= interval
                && nanos - interval < HANG_UP) {
            keys.add(peerKey);
        }
    }
}
