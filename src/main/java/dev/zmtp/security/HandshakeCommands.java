package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/** Names of commands, and the failures of peers that send a wrong command. */
final class HandshakeCommands {

    private static final int MAX_NAME_LENGTH = 255;

    private HandshakeCommands() {}

    /** Returns the start of the body of a command of any name, to be released by the caller. */
    static ByteBuf start(ByteBufAllocator alloc, String name, int dataLength) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length == 0 || bytes.length > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException(
                    "command name length: " + bytes.length + " (expected: 1 to " + MAX_NAME_LENGTH + ")");
        }
        return alloc.buffer(1 + bytes.length + dataLength)
                .writeByte(bytes.length)
                .writeBytes(bytes);
    }

    /**
     * Moves {@code command} from its name, which must be {@code expected}, to its data.
     *
     * @throws ZMTPException if the command has another name, or is an ERROR, in which case the exception has the peer's
     *     reason
     */
    static void expect(ByteBuf command, String expected) {
        int nameAt = command.readerIndex() + 1;
        if (Command.read(command) == Command.ERROR) {
            throw peerError(command);
        }
        String name = command.toString(nameAt, command.readerIndex() - nameAt, StandardCharsets.ISO_8859_1);
        if (!name.equals(expected)) {
            throw unexpected(name, expected);
        }
    }

    static void expect(ByteBuf command, Command expected) {
        expect(command, expected.name());
    }

    /** Returns the failure of a peer that sent {@code command} out of turn. */
    static ZMTPException unexpected(Object command, String expected) {
        return ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", command, expected);
    }

    /** Returns the failure reported by a peer's ERROR with this data. */
    static ZMTPException peerError(ByteBuf data) {
        return new ZMTPException(ZMTPException.Code.PEER_ERROR, "refused by the peer: " + Command.readReason(data));
    }
}
