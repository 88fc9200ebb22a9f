package dev.zmtp.soak;

import dev.zmtp.interop.PeerKind;
import org.jspecify.annotations.Nullable;

/** The implementation that a peer's socket belongs to. */
enum Implementation {
    /** This codec's. */
    NETTY_ZMTP(null),
    /** This codec's, through shared memory. */
    SHARED_MEMORY(null),
    /** JeroMQ's. */
    JEROMQ(PeerKind.JEROMQ),
    /** libzmq's. */
    LIBZMQ(PeerKind.LIBZMQ),
    /** Someone's in another process. */
    ELSEWHERE(null);

    private final @Nullable PeerKind foreign;

    Implementation(@Nullable PeerKind foreign) {
        this.foreign = foreign;
    }

    /** Whether the peer is a {@link CodecEnd} in this process. */
    boolean isOurs() {
        return this == NETTY_ZMTP || this == SHARED_MEMORY;
    }

    /** Whether there is a socket, so that a proxy can be between both ends, and one direction can be shut down alone. */
    boolean hasSocket() {
        return this != SHARED_MEMORY;
    }

    /** The foreign implementation in this process, or null. */
    @Nullable
    PeerKind foreign() {
        return foreign;
    }
}
