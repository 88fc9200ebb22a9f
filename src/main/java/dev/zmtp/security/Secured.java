package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import java.util.function.Function;

/** What the mechanisms have in common, above all those with a client and a server. */
final class Secured {

    private Secured() {}

    /** The side that is authenticated, and authenticates nobody. */
    static ZMTPMechanism.Factory client(String name, Function<ZMTPMechanism.Context, ZMTPMechanism> sides) {
        return factory(name, sides, authenticator -> {
            if (authenticator) {
                throw new IllegalArgumentException(
                        "authenticator: set (expected: none for a " + name + " client, which asks nobody)");
            }
        });
    }

    /** The side that asks who the other is. */
    static ZMTPMechanism.Factory server(String name, Function<ZMTPMechanism.Context, ZMTPMechanism> sides) {
        return factory(name, sides, authenticator -> {
            if (!authenticator) {
                throw new IllegalArgumentException("authenticator: none (expected: one for a " + name
                        + " server, ZMTPAuthenticator.anyone() if everyone may come in)");
            }
        });
    }

    private static ZMTPMechanism.Factory factory(
            String name, Function<ZMTPMechanism.Context, ZMTPMechanism> sides, Consumer<Boolean> authenticatorCheck) {
        return new ZMTPMechanism.Factory() {
            @Override
            public ZMTPMechanism create(ZMTPMechanism.Context context) {
                return sides.apply(context);
            }

            @Override
            public void check(ZMTPVersion protocol, boolean authenticator) {
                if (!protocol.hasCommands()) {
                    throw new IllegalArgumentException(
                            "protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 with " + name + ")");
                }
                authenticatorCheck.accept(authenticator);
            }
        };
    }

    /** A command that does not belong here. */
    static ZMTPException unexpected(Object command, String expected) {
        return ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", command, expected);
    }

    /**
     * Reads the name of a command that must be {@code expected}.
     *
     * @throws ZMTPException if it is another, with the peer's reason if it is an ERROR
     */
    static void expect(ByteBuf command, Command expected) {
        Command name = Command.read(command);
        if (name == Command.ERROR) {
            throw refused(command);
        }
        if (name != expected) {
            throw unexpected(name, expected.name());
        }
    }

    /** The peer has sent an ERROR with this data. */
    static ZMTPException refused(ByteBuf data) {
        return new ZMTPException(ZMTPException.Code.PEER_ERROR, "refused by the peer: " + Command.readReason(data));
    }
}
