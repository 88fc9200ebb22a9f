package dev.zmtp.internal.handshake;

import dev.zmtp.internal.connection.TransportMethod;
import dev.zmtp.security.ZMTPPeerCredentials;
import io.netty.channel.Channel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The peer of a Unix domain socket, according to the channels of epoll, io_uring and kqueue. */
final class UnixPeer {

    private static final TransportMethod CREDENTIALS = new TransportMethod("peerCredentials");

    private UnixPeer() {}

    /**
     * Returns the credentials of the connected peer, or null if {@code channel} has another type or does not provide
     * them.
     */
    static @Nullable ZMTPPeerCredentials credentials(Channel channel) {
        try {
            Object found = CREDENTIALS.call(channel);
            return found == null
                    ? null
                    : new ZMTPPeerCredentials(
                            number(found, "pid"),
                            number(found, "uid"),
                            Arrays.stream((int[]) TransportMethod.value(found, "gids"))
                                    .mapToObj(Integer::toUnsignedLong)
                                    .toList());
        } catch (ReflectiveOperationException e) { // the socket is closed
            return null;
        }
    }

    private static long number(Object credentials, String name) throws ReflectiveOperationException {
        return Integer.toUnsignedLong((int) TransportMethod.value(credentials, name));
    }
}
