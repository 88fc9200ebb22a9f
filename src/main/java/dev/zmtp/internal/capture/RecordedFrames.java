package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The greeting and the frames of a direction of a recorded connection, put together from packets. */
final class RecordedFrames {

    /** Receives messages and commands in their order. */
    interface Sink {

        void command(byte[] body) throws IOException;

        void message(List<byte[]> frames) throws IOException;
    }

    private static final byte[] GREETING =
            CapturedHandshake.greeting().runs().get(0).bytes();

    private final Sink sink;
    private final UnfinishedBytes unfinished;
    private final ByteBuf header = Unpooled.buffer(ZMTPFraming.MAX_HEADER);
    private int greeted;
    private int flags;

    /**
     * The body of the current frame; null within a header. It grows with the captured bytes, because the frame can be
     * longer than what was captured of it.
     */
    private byte @Nullable [] body;

    private int filled;
    private long left;
    private List<byte[]> message = new ArrayList<>(1);

    /** Number of bytes that were taken for {@link #message} and {@link #body}. */
    private long taken;

    private boolean whole = true;

    RecordedFrames(Sink sink, UnfinishedBytes unfinished) {
        this.sink = sink;
        this.unfinished = unfinished;
    }

    /** Reads a packet. */
    void read(RecordedPacket packet) throws IOException {
        ByteBuffer in = packet.payload();
        readGreeting(in);
        while (in.hasRemaining()) {
            byte[] to = body;
            if (to == null) {
                readHeader(in);
            } else {
                body = readBody(in, to);
            }
            endIfWhole();
        }
        if (packet.missing() > 0) {
            skip(packet.missing());
        }
    }

    private void readGreeting(ByteBuffer in) throws IOException {
        for (; greeted < GREETING.length && in.hasRemaining(); greeted++) {
            byte read = in.get();
            if (read != GREETING[greeted]) {
                throw new IOException("greeting: " + hex(read) + " at " + greeted + " (expected: "
                        + hex(GREETING[greeted]) + ", as in a capture of ZMTP)");
            }
        }
    }

    private static String hex(byte value) {
        return "0x%02x".formatted(value);
    }

    private void readHeader(ByteBuffer in) throws IOException {
        header.writeByte(in.get());
        if (header.readableBytes() < ZMTPFraming.V3.headerLengthFromFirstByte(header.getByte(0))) {
            return;
        }
        try {
            flags = ZMTPFraming.V3.flagsAt(header, 0);
            left = ZMTPFraming.V3.bodyLengthAt(header, 0);
        } catch (ZMTPException e) {
            throw new IOException(e.getMessage(), e);
        }
        header.clear();
        if ((flags & ZMTPFraming.COMMAND) != 0 && !message.isEmpty()) {
            throw new IOException("frame flags: 0x%02x (expected: no command within a message)".formatted(flags));
        }
        unfinished.takeFrame();
        filled = 0;
        body = new byte[0];
    }

    /** Returns the body with the bytes that a packet has of it. */
    private byte[] readBody(ByteBuffer in, byte[] before) throws IOException {
        int length = (int) Math.min(in.remaining(), left);
        unfinished.take(length);
        taken += length;
        int needed = filled + length;
        byte[] to = needed <= before.length ? before : Arrays.copyOf(before, grown(needed, before.length));
        in.get(to, filled, length);
        filled = needed;
        left -= length;
        return to;
    }

    /** Returns the next length of an array, which grows by half, up to what the frame and all messages can have. */
    private int grown(int needed, int length) {
        long most = filled + Math.min(left, UnfinishedBytes.MAX - filled);
        return (int) Math.max(needed, Math.min(length + length / 2, most));
    }

    private void endIfWhole() throws IOException {
        byte[] ended = body;
        if (ended == null || left > 0) {
            return;
        }
        body = null;
        byte[] frame = filled == ended.length ? ended : Arrays.copyOf(ended, filled);
        if ((flags & ZMTPFraming.COMMAND) != 0) {
            giveBack(1);
            sink.command(frame);
            return;
        }
        message.add(frame);
        if ((flags & ZMTPFraming.MORE) == 0) {
            List<byte[]> frames = message;
            message = new ArrayList<>(1);
            giveBack(frames.size());
            sink.message(Collections.unmodifiableList(frames));
        }
    }

    private void giveBack(int frames) {
        unfinished.giveBack(frames, taken);
        taken = 0;
    }

    /** Skips bytes that are not captured. */
    private void skip(int missing) throws IOException {
        long most = body == null ? 0 : left;
        if (missing > most) {
            throw new IOException(
                    "bytes that are not captured: " + missing + " (expected: <= " + most + ", the rest of the frame)");
        }
        whole = false;
        left -= missing;
        endIfWhole();
    }

    /** Forgets the beginning of a message, because packets are missing. */
    void forget() {
        giveBack(message.size() + (body == null ? 0 : 1));
        message.clear();
        body = null;
        header.clear();
    }

    /** Returns whether nothing is missing, neither the rest of a message nor of a frame that has ended. */
    boolean isWhole() {
        return whole && body == null && !header.isReadable() && message.isEmpty();
    }
}
