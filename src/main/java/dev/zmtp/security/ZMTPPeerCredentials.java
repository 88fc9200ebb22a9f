package dev.zmtp.security;

import java.util.List;

/**
 * Process at the other end of a Unix domain socket, as recorded by the kernel at the time of the connect.
 *
 * <p>Available over epoll, io_uring and kqueue. In a native image it is available if the image is built with reflection
 * on the public methods of their domain socket channels and of Netty's {@code PeerCredentials}.
 *
 * <p>The process id can meanwhile belong to another process, so base decisions on the user ID.
 *
 * @param pid the id of the process that connected
 * @param uid the id of its effective user
 * @param gids the ids of its groups, the effective group first; on Linux, only the effective group
 */
public record ZMTPPeerCredentials(long pid, long uid, List<Long> gids) {

    /** Stores a copy of the list. */
    public ZMTPPeerCredentials {
        gids = List.copyOf(gids);
    }
}
