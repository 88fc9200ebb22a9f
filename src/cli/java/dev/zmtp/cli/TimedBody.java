package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * The body of a measured message, which is {@code ZPF1}, flags, the number of the message, the time when it was due on
 * the clock of the sender, and zeros up to the size.
 */
final class TimedBody {

    /** Length without zeros. */
    static final int MIN_SIZE = 24;

    static final int MAX_SIZE = 1 << 20;

    private static final int MAGIC = 0x5a504631;
    private static final int ANSWER = 1;
    private static final int FLAGS = 4;
    private static final int NUMBER = 8;
    private static final int DUE = 16;

    private TimedBody() {}

    static ZMTPMessage message(ByteBufAllocator allocator, int size, boolean answer, long number, long due) {
        ByteBuf body = allocator.buffer(size);
        body.writeInt(MAGIC).writeInt(answer ? ANSWER : 0).writeLong(number).writeLong(due);
        body.writeZero(size - MIN_SIZE);
        return ZMTPMessage.from(body);
    }

    /** Returns the frame if the message is a measured one; null if it is another. */
    static boolean is(ZMTPMessage message) {
        return message.size() == 1
                && message.frame(0).readableBytes() >= MIN_SIZE
                && message.frame(0).getInt(message.frame(0).readerIndex()) == MAGIC;
    }

    static boolean wantsAnswer(ZMTPMessage message) {
        ByteBuf body = message.frame(0);
        return (body.getInt(body.readerIndex() + FLAGS) & ANSWER) != 0;
    }

    static long number(ZMTPMessage message) {
        ByteBuf body = message.frame(0);
        return body.getLong(body.readerIndex() + NUMBER);
    }

    static long due(ZMTPMessage message) {
        ByteBuf body = message.frame(0);
        return body.getLong(body.readerIndex() + DUE);
    }
}
