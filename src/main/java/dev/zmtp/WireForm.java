package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads, writes and copies whole messages, for applications without a connection. */
final class WireForm {

    private WireForm() {}

    /** Returns the frames of a message as retained slices of {@code in}, or null if the message is incomplete. */
    static @Nullable List<ByteBuf> read(ByteBuf in, ZMTPVersion version) {
        int end = in.writerIndex();
        int index = in.readerIndex();
        List<ByteBuf> slices = new ArrayList<>(1);
        int flags;
        do {
            if (index == end) {
                return null;
            }
            int header = version.framing().headerLengthFromFirstByte(in.getUnsignedByte(index));
            if (end - index < header) {
                return null;
            }
            flags = version.framing().flagsAt(in, index);
            if ((flags & ZMTPFraming.COMMAND) != 0) {
                throw ZMTPException.malformed("frame flags", "0x" + flags, "a message frame, no command");
            }
            long length = version.framing().bodyLengthAt(in, index);
            index += header;
            if (length > end - index) {
                return null;
            }
            slices.add(length == 0 ? Unpooled.EMPTY_BUFFER : in.slice(index, (int) length));
            index += (int) length;
        } while ((flags & ZMTPFraming.MORE) != 0);
        in.readerIndex(index);
        slices.forEach(ByteBuf::retain);
        return slices;
    }

    /** Returns the bytes of {@code message} in a buffer of {@code alloc}, to be released by the caller. */
    static ByteBuf of(ZMTPMessage message, ByteBufAllocator alloc, ZMTPVersion version) {
        ByteBuf out = alloc.ioBuffer(length(message, version));
        try {
            write(message, out, version);
        } catch (Throwable e) { // a frame was released
            out.release();
            throw e;
        }
        return out;
    }

    private static int length(ZMTPMessage message, ZMTPVersion version) {
        long length = 0;
        for (int i = 0; i < message.size(); i++) {
            int body = message.frame(i).readableBytes();
            length += version.framing().headerLengthForBody(body) + body;
        }
        return Math.toIntExact(length);
    }

    static void write(ZMTPMessage message, ByteBuf out, ZMTPVersion version) {
        for (int i = 0, last = message.size() - 1; i <= last; i++) {
            ByteBuf body = message.frame(i);
            version.framing().writeHeader(out, i < last ? ZMTPFraming.MORE : 0, body.readableBytes());
            append(out, body);
        }
    }

    private static void append(ByteBuf out, ByteBuf body) {
        if (body.refCnt() == 0) { // some buffers would only find their memory too short
            throw new IllegalReferenceCountException(0);
        }
        out.writeBytes(body, body.readerIndex(), body.readableBytes());
    }

    /**
     * Returns copies of the frames of {@code message}, to be released by the caller, in a single buffer of
     * {@code alloc}.
     */
    static List<ByteBuf> copy(ZMTPMessage message, ByteBufAllocator alloc) {
        ByteBuf all = alloc.buffer(Math.toIntExact(message.readableBytes()));
        try {
            List<ByteBuf> copies = new ArrayList<>(message.size());
            for (ByteBuf frame : message) {
                append(all, frame);
                copies.add(all.readSlice(frame.readableBytes()));
            }
            copies.forEach(ByteBuf::retain);
            return copies;
        } finally {
            all.release();
        }
    }
}
