package dev.zmtp.internal.admission;

import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;

/** A session, and what a limiter wants to know of it besides. */
public interface LimitedSession extends ZMTPSession, MemoryAccount.Owner {

    /** Returns whether the peer waits for this side: for what a mechanism computes, or an authenticator decides. */
    boolean isWorking();

    /** Returns true at the first call: a connection has one pause before it is read, however many limiters it has. */
    boolean claimPause();
}
