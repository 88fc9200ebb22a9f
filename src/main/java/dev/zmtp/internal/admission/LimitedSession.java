package dev.zmtp.internal.admission;

import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;

/** A session with the additional information that a limiter needs. */
public interface LimitedSession extends ZMTPSession, MemoryAccount.Owner {

    /** Returns whether the peer waits for this side, because a mechanism computes or an authenticator decides. */
    boolean isWorking();

    /**
     * Returns true on the first call. A connection has a single pause before its first read, regardless of the number
     * of limiters.
     */
    boolean claimPause();
}
