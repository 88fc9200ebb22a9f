package dev.zmtp.security;

import java.util.List;

/**
 * The process at the other end of a Unix domain socket, as the kernel knows it from the time of the connect.
 *
 * <p>Known over epoll, io_uring and kqueue. In a native image it is known if the image is built with reflection on the
 * public methods of their domain socket channels and of Netty's {@code PeerCredentials}.
 *
 * <p>A process id may be that of another process by now. The user id is what to decide by.
 *
 * @param pid the id of the process that connected
 * @param uid the id of its effective user
 * @param gids the ids of its groups, the effective one first; on Linux, that one alone
 */
public record ZMTPPeerCredentials(long pid, long uid, List<Long> gids) {

    /** Keeps a copy of the list. */
    public ZMTPPeerCredentials {
        gids = List.copyOf(gids);
    }
}
