package dev.zmtp.mechanism;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;

/** What the mechanisms with a client and a server have in common. */
final class Secured {

    private Secured() {}

    /** Checks what a client is combined with: it is authenticated, and authenticates nobody. */
    static void checkClient(String name, ZMTPVersion protocol, boolean authenticator) {
        checkProtocol(name, protocol);
        if (authenticator) {
            throw new IllegalArgumentException(
                    "authenticator: set (expected: none for a " + name + " client, which asks nobody)");
        }
    }

    /** Checks what a server is combined with. */
    static void checkServer(String name, ZMTPVersion protocol, boolean authenticator) {
        checkProtocol(name, protocol);
        if (!authenticator) {
            throw new IllegalArgumentException("authenticator: none (expected: one for a " + name
                    + " server, ZMTPAuthenticator.anyone() if everyone may come in)");
        }
    }

    private static void checkProtocol(String name, ZMTPVersion protocol) {
        if (!protocol.hasCommands()) {
            throw new IllegalArgumentException(
                    "protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 with " + name + ")");
        }
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
            throw refused(Command.readReason(command));
        }
        if (name != expected) {
            throw unexpected(name, expected.name());
        }
    }

    /** The peer has sent an ERROR. */
    static ZMTPException refused(String reason) {
        return new ZMTPException(ZMTPException.Code.PEER_ERROR, "refused by the peer: " + reason);
    }
}
