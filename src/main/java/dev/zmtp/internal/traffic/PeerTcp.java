package dev.zmtp.internal.traffic;

import dev.zmtp.internal.connection.TransportMethod;
import io.netty.channel.Channel;

/** The peer's kernel, according to Linux's {@code TCP_INFO}, which the channels of epoll and io_uring provide. */
final class PeerTcp {

    /** The second probe of a closed window is sent only if there was time to acknowledge the first. */
    private static final int PROBES = 2;

    private static final TransportMethod TCP_INFO = new TransportMethod("tcpInfo");

    private PeerTcp() {}

    /**
     * Returns whether the peer's kernel is known to have acknowledged nothing for this long, although this side's
     * kernel has retransmitted bytes or probes for room. A kernel that reports that it has no room is not silent. False
     * for other transports, which have no such information.
     */
    static boolean isSilent(Channel channel, long millis) {
        try {
            Object info = TCP_INFO.call(channel);
            return info != null
                    && number(info, "lastAckRecv") >= millis
                    && (number(info, "probes") >= PROBES
                            || (number(info, "unacked") > 0 && number(info, "retransmits") > 0));
        } catch (ReflectiveOperationException e) { // the socket is closed
            return false;
        }
    }

    private static long number(Object info, String name) throws ReflectiveOperationException {
        return ((Number) TransportMethod.value(info, name)).longValue();
    }
}
