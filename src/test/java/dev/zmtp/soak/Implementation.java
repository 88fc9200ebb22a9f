package dev.zmtp.soak;

import dev.zmtp.interop.PeerKind;
import org.jspecify.annotations.Nullable;

/** The implementation that a peer's socket belongs to. */
enum Implementation {
    /** This codec's. */
    NETTY_ZMTP(null),
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

    /** The foreign implementation in this process, or null. */
    @Nullable
    PeerKind foreign() {
        return foreign;
    }
}
