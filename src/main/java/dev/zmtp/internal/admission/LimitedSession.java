package dev.zmtp.internal.admission;

import dev.zmtp.codec.ZMTPSession;

/** A session, and what a limiter wants to know of it besides. */
public interface LimitedSession extends ZMTPSession {

    /** Returns whether the peer waits for this side: for what a mechanism computes, or an authenticator decides. */
    boolean isWorking();

    /** This side begins to compute or to decide something, or lets the peer wait. */
    void beginWork();

    /** What had begun has ended. On any thread. */
    void endWork();

    /** Where the memory of the connection is counted. */
    MemoryLedger ledger();
}
