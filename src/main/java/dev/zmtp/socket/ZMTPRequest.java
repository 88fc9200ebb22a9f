package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;

/**
 * A request that a REP or ROUTER has received, and that wants one answer. The handler of {@link ZMTPSocket#serve} gets
 * it. It keeps the envelope, which has a name for each ROUTER on the way and an empty frame (RFC 28).
 *
 * <p>It may be answered later, from any thread, and after requests that came later. Until then it counts for
 * {@link ZMTPSocketConfig#maxOutstandingRequests()}.
 */
public interface ZMTPRequest {

    /** The peer that has sent or forwarded the request. */
    ZMTPPeer peer();

    /** The data of the request, without the envelope. {@link #reply} and {@link #drop} release it. */
    ZMTPMessage message();

    /**
     * Sends the answer, and releases the request. The answer is the data alone. It is taken over, also if this throws,
     * and may be {@link #message()} itself.
     *
     * @return whether the peer that asked was still there; otherwise the answer is dropped
     * @throws IllegalStateException if the request was answered or dropped before
     */
    boolean reply(ZMTPMessage answer);

    /** Releases the request, which gets no answer. Does nothing if it was answered or dropped before. */
    void drop();
}
