package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;

/**
 * Request that a REP or ROUTER has received and that expects a single reply. It is passed to the handler of
 * {@link ZMTPSocket#serve}. It keeps the envelope for the reply, which consists of a routing id for each ROUTER on the
 * way and an empty frame (RFC 28).
 *
 * <p>It can be answered later, from any thread, and out of order. Until then it counts towards
 * {@link ZMTPSocketConfig#maxOutstandingRequests()}.
 */
public interface ZMTPRequest {

    /** Returns the peer that has sent or forwarded the request. */
    ZMTPPeer peer();

    /** Returns the data of the request, without the envelope. {@link #reply} and {@link #drop} release it. */
    ZMTPMessage message();

    /**
     * Sends the reply, and releases the request. The reply consists of the data only, without an envelope. The reply is
     * taken over even if this method throws, and can be {@link #message()} itself.
     *
     * @return whether the requesting peer was still connected; otherwise the reply is dropped. If the peer is a REQ, or
     *     this socket a REP, this means the connection of the request and no later one, because the peer could take the
     *     reply for that to a later request
     * @throws IllegalStateException if the request was answered or dropped before
     */
    boolean reply(ZMTPMessage answer);

    /** Releases the request without a reply. Does nothing if it was answered or dropped before. */
    void drop();
}
