package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One side's question to the authenticator, and what follows from the answer (RFC 27, "The ZAP Reply"). */
final class Admission {

    private final ZMTPMechanism.Context context;
    private final String mechanism;
    private @Nullable ZMTPDecision decision;

    Admission(ZMTPMechanism.Context context, String mechanism) {
        this.context = context;
        this.mechanism = mechanism;
    }

    void ask(ByteBuffer identity, List<ByteBuffer> credentials) {
        context.authenticate(mechanism, identity, credentials, answer -> decision = answer);
    }

    /**
     * Whether the peer may come in; false, too, as long as there is no answer.
     *
     * @throws ZMTPException if it may not
     */
    boolean isGranted() {
        ZMTPDecision made = decision;
        if (made == null) {
            return false;
        }
        if (made.status() != ZMTPDecision.Status.ACCEPTED) {
            throw ZMTPException.of(
                    ZMTPException.Code.AUTHENTICATION,
                    "authentication",
                    made.status().code() + (made.text().isEmpty() ? "" : ", " + Command.printable(made.text())),
                    "200");
        }
        return true;
    }

    /** As {@link #refusal()}; but one whose socket type is wrong is told so, whoever it is. Null for any other cause. */
    @Nullable
    ByteBuf refusal(ZMTPException cause) {
        return switch (cause.code()) {
            case AUTHENTICATION -> refusal();
            case SOCKET_TYPE -> Command.error(context.alloc(), String.valueOf(cause.getMessage()));
            default -> null;
        };
    }

    /** The body of the ERROR that tells a peer that it may not come in, or null if it is to be told nothing. */
    @Nullable
    ByteBuf refusal() {
        ZMTPDecision made = decision;
        if (made == null) {
            return null;
        }
        return switch (made.status()) {
            case DENIED, ERROR ->
                Command.error(context.alloc(), Integer.toString(made.status().code()));
            case ACCEPTED, TEMPORARY_FAILURE -> null; // who hears nothing tries again
        };
    }
}
