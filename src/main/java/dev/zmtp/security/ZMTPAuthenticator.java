package dev.zmtp.security;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Decides which peers are accepted, with any mechanism (NULL, PLAIN or CURVE), with or without TLS. It does the job of
 * a ZAP handler, the authentication service of other ZeroMQ libraries (RFC 27). Sockets do not ask it about peers over
 * {@code inproc}, which are code of the same process.
 *
 * <p>An authenticator is shared by channels and must be thread safe. It is called on the event loop of the peer's
 * channel and must not block it. An authenticator that needs a database completes its stage later, from any thread.
 * That time counts against {@code handshakeTimeout}.
 */
@FunctionalInterface
public interface ZMTPAuthenticator {

    /**
     * Decides about a peer during its handshake.
     *
     * <p>A peer can leave before the decision, and then return. The limiters count only open connections, so the
     * authenticator has to bound the number of its requests to a slow service.
     *
     * <p>An exception, a failed stage and null all count as {@link ZMTPAuthDecision.Status#ERROR}. The peer is refused,
     * and the reason is logged as a warning.
     *
     * @param request the peer; its password, if any, is wiped after the decision or at the end of the connection. An
     *     authenticator that decides later must copy the password during the call
     * @return the decision, complete now or later
     */
    CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request);

    /**
     * Returns an authenticator that accepts every peer. It is meant for CURVE servers that encrypt but do not
     * authenticate, so that any client with the server's public key can connect.
     */
    static ZMTPAuthenticator acceptAll() {
        CompletionStage<ZMTPAuthDecision> accepted = CompletableFuture.completedStage(ZMTPAuthDecision.accept(""));
        return request -> accepted;
    }

    /**
     * Returns an authenticator that also consults {@code next} for every peer that this authenticator accepts. The
     * resulting user ID and metadata are those of {@code next}, which runs on the thread that completed the first
     * decision. The authenticator that determines the user must therefore come last:
     * {@code ZMTPAddressAuthenticator.of(...).and(ZMTPPublicKeyAuthenticator.of(keys))}.
     */
    default ZMTPAuthenticator and(ZMTPAuthenticator next) {
        return request -> authenticate(request)
                .thenCompose(decision -> decision.status() == ZMTPAuthDecision.Status.ACCEPTED
                        ? next.authenticate(request)
                        : CompletableFuture.completedStage(decision));
    }
}
