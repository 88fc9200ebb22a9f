package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/** The body of any command, its data, and both written again. */
public final class CommandFuzz {

    private CommandFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Ledger ledger = new Ledger(false);
        ByteBuf body = Unpooled.wrappedBuffer(bytes);
        try {
            Command command = Command.read(body);
            writtenAgain(command, bytes, body, ledger);
            switch (command) {
                case PING -> ping(body, ledger);
                case ERROR -> error(body, ledger);
                default -> {}
            }
        } catch (ZMTPException documented) {
            FuzzFailure.unlessEqual(documented.code(), ZMTPException.Code.MALFORMED, "code");
        }
        FuzzFailure.unlessEqual(ledger.taken(), 0L, "bytes that are not back");
    }

    private static void writtenAgain(Command command, byte[] bytes, ByteBuf data, Ledger ledger) {
        if (command != Command.UNKNOWN) {
            ByteBuf again = command.body(ledger, data);
            FuzzFailure.unlessEqual(hex(again), ByteBufUtil.hexDump(bytes), "written again");
        }
        int name = bytes[0] & 0xff;
        FuzzFailure.unlessEqual(data.readerIndex(), 1 + name, "start of the data");
    }

    private static void ping(ByteBuf data, Ledger ledger) {
        String all = ByteBufUtil.hexDump(data);
        int ttl = Command.readTtl(data);
        String context = ByteBufUtil.hexDump(data);
        ByteBuf again = Command.ping(ledger, ttl);
        Command.read(again);
        FuzzFailure.unlessEqual(hex(again) + context, all, "PING");
        FuzzFailure.unless(context.length() <= 2 * Command.MAX_CONTEXT_LENGTH, "context", context);
    }

    private static void error(ByteBuf data, Ledger ledger) {
        String reason = Command.readReason(data);
        FuzzFailure.unless(!data.isReadable(), "behind the reason", data);
        FuzzFailure.unless(reason.matches("[ -~]{0,255}"), "reason", reason);
        ByteBuf again = Command.error(ledger, reason);
        try {
            FuzzFailure.unlessEqual(Command.read(again), Command.ERROR, "command");
            FuzzFailure.unlessEqual(Command.readReason(again), reason, "reason");
        } finally {
            again.release();
        }
    }

    private static String hex(ByteBuf buffer) {
        String hex = ByteBufUtil.hexDump(buffer);
        buffer.release();
        return hex;
    }
}
