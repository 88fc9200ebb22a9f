package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.Copies;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.function.IntSupplier;

/**
 * Bytes that the codec writes, which are a greeting and ZMTP frames, into WebSocket frames (RFC 45). Each ZMTP frame
 * becomes a single frame that is not fragmented.
 *
 * <p>The bytes can be cut anywhere. Short bodies are copied together with their headers, because a buffer for each body
 * costs more than its copy. A long body is passed by reference. A client copies all bodies, because it masks them and
 * the codec's buffers can belong to messages of the user.
 */
final class ZwsEncoder {

    /** Maximum length of a body that is copied although it is not masked, as in the codec. */
    static final int COPY_LIMIT = 4096;

    /** Maximum length of a PING or PONG, which has a name of four letters. */
    private static final int MAX_PING = 1 + 4 + Command.TTL_LENGTH + Command.MAX_CONTEXT_LENGTH;

    private static final int PING_CONTEXT = 1 + 4 + Command.TTL_LENGTH;
    private static final int PONG_CONTEXT = 1 + 4;

    /** More than the header of a WebSocket frame, its key and the flags. */
    private static final int HEADER_ROOM = 16;

    private final ByteBufAllocator alloc;
    private final boolean masks;
    private final IntSupplier keys;
    private final ZwsPings pings;
    private final GatheredBytes out;

    /** Number of bytes of the codec before and after those that are being encoded. */
    private long begun;

    private long passed;

    /** A part of a header, or of a command that can be a PING. On the heap and unpooled, so it needs no release. */
    private final ByteBuf split = Unpooled.buffer(ZmtpHeaders.MAX + MAX_PING, ZmtpHeaders.MAX + MAX_PING);

    /** The number of bytes that the codec has written of its greeting, minus the length once that is known. */
    private int greeting;

    /** The number of bytes of the body that are missing. */
    private long left;

    /** The key for the next byte of the body. */
    private int key;

    private boolean broken;

    /** @param keys source of the keys of a client */
    ZwsEncoder(ByteBufAllocator alloc, WebSocketRole role, IntSupplier keys, ZwsPings pings) {
        this.alloc = alloc;
        this.masks = role == WebSocketRole.CLIENT;
        this.keys = keys;
        this.pings = pings;
        this.out = new GatheredBytes(alloc);
    }

    /** Skips bytes of the greeting, whose length is not known yet. Takes ownership of {@code in}. */
    void skip(ByteBuf in) {
        greeting += in.readableBytes();
        in.release();
    }

    /** Sets the length of the greeting, of which the peer receives nothing. Frames follow it. */
    void start(int greetingLength) {
        greeting -= greetingLength;
        if (greeting > 0) {
            throw new IllegalStateException("bytes before the upgrade: " + (greeting + greetingLength)
                    + " (expected: <= " + greetingLength + ", a greeting)");
        }
    }

    /** Returns whether a frame was begun, so that no other frame can be sent now. */
    boolean isMidFrame() {
        return left > 0 || split.isReadable() || broken;
    }

    /**
     * Returns the frames for the bytes of {@code in}, of which it takes ownership. Can be empty. The caller must
     * release the result.
     */
    ByteBuf encode(ByteBuf in) {
        int length = in.readableBytes();
        begun = passed;
        passed += length;
        if (!masks && left >= length) {
            left -= length; // most bodies by reference have a buffer of their own
            return in;
        }
        int copied = Math.min(length, GatheredBytes.FULL);
        // Frames with bodies of eight bytes grow by half. Those with shorter bodies make the buffer grow.
        out.begin(!masks && beginsWithLongBody(in) ? HEADER_ROOM : copied + copied / 2 + HEADER_ROOM);
        try {
            while (in.isReadable()) {
                next(in);
            }
            return out.take();
        } catch (Throwable e) { // the allocator is out of memory, and the missing bytes end the connection
            broken = true;
            out.drop();
            throw e;
        } finally {
            in.release();
        }
    }

    /** Returns whether the first body is passed by reference. */
    private boolean beginsWithLongBody(ByteBuf in) {
        return greeting >= 0
                && left == 0
                && !split.isReadable()
                && hasAnyHeader(in)
                && ZMTPFraming.V3.bodyLengthAt(in, in.readerIndex()) > COPY_LIMIT;
    }

    private void next(ByteBuf in) {
        if (greeting < 0) {
            int skipped = Math.min(-greeting, in.readableBytes());
            in.skipBytes(skipped);
            greeting += skipped;
        } else if (left > 0) {
            body(in);
        } else if (split.isReadable()) {
            splitHeader(in);
        } else if (hasAnyHeader(in) || missing(in) <= 0) {
            header(in);
        } else {
            split.writeBytes(in);
        }
    }

    /** Returns whether {@code in} has enough bytes for the longest header, and for a command that can be a PING. */
    private boolean hasAnyHeader(ByteBuf in) {
        return in.readableBytes() >= split.capacity();
    }

    /** Returns the number of bytes that {@code in} lacks of a header, or of a command that can be a PING. */
    private static int missing(ByteBuf in) {
        int index = in.readerIndex();
        int flags = in.getUnsignedByte(index);
        int needed = ZMTPFraming.V3.headerLengthFromFirstByte(flags);
        if (in.readableBytes() >= needed && (flags & ZMTPFraming.COMMAND) != 0) {
            long length = ZMTPFraming.V3.bodyLengthAt(in, index);
            needed += length <= MAX_PING ? (int) length : 0;
        }
        return needed - in.readableBytes();
    }

    private void splitHeader(ByteBuf in) {
        split.writeBytes(in, Math.min(missing(split), in.readableBytes()));
        if (missing(split) <= 0) {
            header(split);
            if (split.isReadable()) {
                body(split); // of a command that is not a PING
            }
            split.clear();
        }
    }

    private void header(ByteBuf in) {
        int index = in.readerIndex();
        int flags = in.getUnsignedByte(index);
        long length = ZMTPFraming.V3.bodyLengthAt(in, index);
        in.skipBytes(ZMTPFraming.V3.headerLengthFromFirstByte(flags));
        boolean isCommand = (flags & ZMTPFraming.COMMAND) != 0;
        if (isCommand && length <= MAX_PING && isPing(in, (int) length)) {
            in.skipBytes((int) length);
            return;
        }
        ByteBuf frame = out.writable(HEADER_ROOM);
        begin(frame, WebSocketFrames.BINARY, length + 1);
        int ours = flags & ZMTPFraming.MORE;
        frame.writeByte((isCommand ? FrameRules.COMMAND : ours) ^ Mask.byteOf(key, 0));
        key = Mask.after(1, key);
        left = length;
    }

    private void begin(ByteBuf frame, int opcode, long length) {
        WebSocketFrames.writeHeader(frame, opcode, masks, length);
        key = 0;
        if (masks) {
            key = keys.getAsInt();
            frame.writeInt(key);
        }
    }

    private void body(ByteBuf in) {
        int length = (int) Math.min(left, in.readableBytes());
        if (!masks && length > COPY_LIMIT) {
            out.add(in.readRetainedSlice(length));
            left -= length;
            return;
        }
        for (int rest = length; rest > 0; ) {
            ByteBuf copy = out.writable(Math.min(rest, GatheredBytes.FULL));
            int index = copy.writerIndex();
            int part = masks ? Math.min(rest, GatheredBytes.FULL - index) : rest;
            Copies.append(copy, in, in.readerIndex(), part);
            in.skipBytes(part);
            if (masks) {
                Mask.apply(copy, index, part, key);
                key = Mask.after(part, key);
            }
            rest -= part;
            left -= part;
        }
    }

    // PINGs and PONGs

    /** Sends the PING or PONG with this body, the next bytes of {@code in}. Returns false if it is another command. */
    private boolean isPing(ByteBuf in, int length) {
        int index = in.readerIndex();
        if (length >= PING_CONTEXT && isNamed(Command.PING, in, index)) {
            byte[] payload = pings.sent(length - PING_CONTEXT, begun, passed);
            control(out.writable(HEADER_ROOM + payload.length), WebSocketFrames.PING, payload);
            return true;
        }
        if (length >= PONG_CONTEXT && isNamed(Command.PONG, in, index) && pings.isAnswer(length - PONG_CONTEXT)) {
            byte[] payload = pings.takeAnswerOfCodec();
            if (payload != null) {
                control(out.writable(HEADER_ROOM + payload.length), WebSocketFrames.PONG, payload);
            }
            return true;
        }
        return false;
    }

    private static boolean isNamed(Command command, ByteBuf body, int index) {
        String name = command.name();
        boolean same = body.getByte(index) == name.length();
        for (int i = 0; same && i < name.length(); i++) {
            same = body.getByte(index + 1 + i) == name.charAt(i);
        }
        return same;
    }

    /** Returns a control frame with this payload, which the caller must release. */
    ByteBuf control(int opcode, byte[] payload) {
        ByteBuf frame = alloc.ioBuffer(HEADER_ROOM + payload.length);
        control(frame, opcode, payload);
        return frame;
    }

    private void control(ByteBuf frame, int opcode, byte[] payload) {
        begin(frame, opcode, payload.length);
        int index = frame.writerIndex();
        frame.writeBytes(payload);
        Mask.apply(frame, index, payload.length, key);
    }
}
