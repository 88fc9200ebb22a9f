package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.buffer.ByteBuf;

/** Messages out of any bytes with {@code ZMTPMessage.read}, and back. */
public final class MessageFuzz {

    private static final ZMTPConfig UNLIMITED = ZMTPConfig.builder()
            .socketType(ZMTPSocketType.PAIR)
            .maxFrameLength(Integer.MAX_VALUE)
            .maxMessageLength(Long.MAX_VALUE)
            .maxMessageFrames(Integer.MAX_VALUE)
            .maxCommandLength(Integer.MAX_VALUE)
            .build();

    private MessageFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        ZMTPVersion version = input.of(ZMTPVersion.values());
        Ledger ledger = new Ledger(input.choice(2) == 1);
        byte[] stream = input.rest();
        Model model = new Model(version, UNLIMITED, stream);
        ByteBuf in = ledger.buffer().writeBytes(stream);
        try {
            int read = 0;
            for (String expected : model.messages()) {
                int start = in.readerIndex();
                if (model.hasCommands() && !isMessage(in, version)) {
                    break;
                }
                ZMTPMessage message = ZMTPMessage.read(in, version);
                FuzzFailure.unless(message != null, "not read", expected);
                FuzzFailure.unlessEqual(Words.of(message), expected, "message " + read++);
                FuzzFailure.unless(in.readerIndex() > start, "not moved", expected);
                writtenAgain(message, version, ledger);
                FuzzFailure.unless(message.release(), "message", "not the reader's alone");
            }
            if (!model.hasCommands()) {
                end(in, version, model.fault().equals("MALFORMED"));
            }
        } finally {
            in.release();
        }
        FuzzFailure.unlessEqual(ledger.taken(), 0L, "bytes that are not back");
    }

    /** Whether no command stands before the end of the next message: {@code read} does not know commands. */
    private static boolean isMessage(ByteBuf in, ZMTPVersion version) {
        int start = in.readerIndex();
        try {
            ZMTPMessage message = ZMTPMessage.read(in, version);
            if (message != null) {
                message.release();
            }
            return message != null;
        } catch (ZMTPException command) {
            FuzzFailure.unlessEqual(in.readerIndex(), start, "reader index");
            return false;
        } finally {
            in.readerIndex(start);
        }
    }

    private static void end(ByteBuf in, ZMTPVersion version, boolean faulty) {
        int start = in.readerIndex();
        try {
            ZMTPMessage half = ZMTPMessage.read(in, version);
            FuzzFailure.unless(half == null, "one more", half);
            FuzzFailure.unless(!faulty, "not noticed", "a fault");
        } catch (ZMTPException documented) {
            FuzzFailure.unless(faulty, "no fault", documented);
            FuzzFailure.unlessEqual(documented.code(), ZMTPException.Code.MALFORMED, "code");
        }
        FuzzFailure.unlessEqual(in.readerIndex(), start, "reader index");
    }

    private static void writtenAgain(ZMTPMessage message, ZMTPVersion version, Ledger ledger) {
        for (ZMTPVersion other : new ZMTPVersion[] {version, ZMTPVersion.ZMTP10, ZMTPVersion.ZMTP31}) {
            ByteBuf again = message.write(ledger, other);
            try {
                ZMTPMessage same = ZMTPMessage.read(again, other);
                FuzzFailure.unless(message.equals(same), "read again", same);
                FuzzFailure.unless(!again.isReadable(), "behind the message", again);
                same.release();
            } finally {
                again.release();
            }
        }
    }
}
