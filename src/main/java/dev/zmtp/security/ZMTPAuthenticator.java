package dev.zmtp.security;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Decides who may come in, whatever the mechanism: NULL, PLAIN or CURVE, with TLS in front or without. It stands in the place
 * of a ZAP handler (RFC 27).
 *
 * <p>It is shared by channels and must be thread safe. It is called on the event loop of the channel that asks and must not
 * block it; who needs a database answers later, from any thread. The time until then counts against the handshake's deadline,
 * which ends the connection if there is no answer.
 */
@FunctionalInterface
public interface ZMTPAuthenticator {

    /**
     * Decides about a peer in the midst of its handshake.
     *
     * <p>An exception, a stage that fails, and null are each an {@link ZMTPDecision.Status#ERROR}: the peer is refused, and
     * the reason is logged as a warning.
     *
     * @param request who asks, valid until the decision or the end of the connection: the octets of a password are wiped then,
     *     so that who answers later copies them first
     * @return the decision, now or later
     */
    CompletionStage<ZMTPDecision> authenticate(ZMTPAuthRequest request);

    /**
     * Lets everyone in: for CURVE servers that mean to encrypt, and not to authenticate. Whoever knows the server's public key
     * may talk to it then.
     */
    static ZMTPAuthenticator anyone() {
        CompletionStage<ZMTPDecision> accepted = CompletableFuture.completedStage(ZMTPDecision.accept(""));
        return request -> accepted;
    }

    /**
     * Asks {@code next} about those whom this one accepts, on the thread that has accepted them; whose the user id and the
     * metadata then are, too.
     */
    default ZMTPAuthenticator and(ZMTPAuthenticator next) {
        return request -> authenticate(request)
                .thenCompose(decision -> decision.status() == ZMTPDecision.Status.ACCEPTED
                        ? next.authenticate(request)
                        : CompletableFuture.completedStage(decision));
    }
}
