package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queries the authenticator about a peer and converts its decision to the answer for the peer (RFC 27, "The ZAP
 * Reply").
 */
final class AuthDecisionHandler {

    private final ZMTPMechanism.Context context;
    private final String mechanism;
    private @Nullable ZMTPAuthDecision decision;

    AuthDecisionHandler(ZMTPMechanism.Context context, String mechanism) {
        this.context = context;
        this.mechanism = mechanism;
    }

    void ask(ByteBuffer identity, List<ByteBuffer> credentials) {
        context.authenticate(mechanism, identity, credentials, answer -> decision = answer);
    }

    /**
     * Returns whether the peer was accepted; false also while there is no decision.
     *
     * @throws ZMTPException if the peer was refused
     */
    boolean isGranted() {
        ZMTPAuthDecision made = decision;
        if (made == null) {
            return false;
        }
        if (made.status() != ZMTPAuthDecision.Status.ACCEPTED) {
            throw ZMTPException.of(
                    ZMTPException.Code.AUTHENTICATION,
                    "authentication",
                    made.status().code() + (made.text().isEmpty() ? "" : ", " + made.text()),
                    "200");
        }
        return true;
    }

    /**
     * Returns the body of the ERROR for a peer that is refused for {@code cause}. It contains the status of the
     * decision, or reports that the peer's socket type is wrong. Returns null, to send nothing, for all other causes.
     */
    @Nullable
    ByteBuf refusal(ZMTPException cause) {
        return switch (cause.code()) {
            case AUTHENTICATION -> refusal();
            case SOCKET_TYPE -> Command.error(context.alloc(), String.valueOf(cause.getMessage()));
            default -> null;
        };
    }

    private @Nullable ByteBuf refusal() {
        ZMTPAuthDecision made = decision;
        if (made == null) {
            return null;
        }
        return switch (made.status()) {
            case DENIED, ERROR ->
                Command.error(context.alloc(), Integer.toString(made.status().code()));
            case ACCEPTED, TEMPORARY_FAILURE -> null; // libzmq reconnects unless it gets an ERROR
        };
    }
}
