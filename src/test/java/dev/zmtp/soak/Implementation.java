package dev.zmtp.soak;

import dev.zmtp.interop.PeerKind;
import org.jspecify.annotations.Nullable;

/** Whose socket a peer is. */
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

    /** The other implementation that this is, or null if it is none. */
    @Nullable
    PeerKind foreign() {
        return foreign;
    }
}
