package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of frames in the layout of ZMTP 3.1. Of a long body, only the beginning is captured.
 *
 * @param runs consecutive parts. Only the end of a run can be missing
 */
record Payload(List<Run> runs) {

    /** Maximum number of bytes of a segment. */
    static final int MAX_SEGMENT = 32_768;

    /** A part of the payload. */
    static final class Run {

        private final byte[] bytes;
        private final long length;

        /**
         * @param bytes the captured bytes
         * @param length number of bytes, of which those after {@code bytes} are missing
         */
        Run(byte[] bytes, long length) {
            this.bytes = bytes;
            this.length = length;
        }

        byte[] bytes() {
            return bytes;
        }

        long length() {
            return length;
        }

        int segments() {
            return (int) ((length + MAX_SEGMENT - 1) / MAX_SEGMENT);
        }
    }

    static Payload of(byte[] bytes) {
        return new Payload(List.of(new Run(bytes, bytes.length)));
    }

    static Payload of(ZMTPMessage message, int snapLength) {
        List<Run> runs = new ArrayList<>(1);
        ByteBuf run = Unpooled.buffer();
        for (int i = 0; i < message.size(); i++) {
            ByteBuf frame = message.frame(i);
            int length = frame.readableBytes();
            int header = ZMTPFraming.V3.headerLengthForBody(length);
            if (run.isReadable() && run.readableBytes() % MAX_SEGMENT + header > MAX_SEGMENT) {
                runs.add(run(run, 0)); // Wireshark needs a header in one piece
                run = Unpooled.buffer();
            }
            ZMTPFraming.V3.writeHeader(run, i < message.size() - 1 ? ZMTPFraming.MORE : 0, length);
            int captured = Math.min(length, snapLength);
            run.writeBytes(frame, frame.readerIndex(), captured);
            if (captured < length) {
                runs.add(run(run, length - captured));
                run = Unpooled.buffer();
            }
        }
        if (run.isReadable()) {
            runs.add(run(run, 0));
        }
        return new Payload(runs);
    }

    private static Run run(ByteBuf bytes, long missing) {
        byte[] captured = new byte[bytes.readableBytes()];
        bytes.readBytes(captured);
        return new Run(captured, captured.length + missing);
    }

    /** Returns the number of bytes of the frames of a message. */
    static long length(ZMTPMessage message) {
        long length = 0;
        for (int i = 0; i < message.size(); i++) {
            int frame = message.frame(i).readableBytes();
            length += ZMTPFraming.V3.headerLengthForBody(frame) + frame;
        }
        return length;
    }

    /** Returns the maximum number of bytes that are captured of a message. */
    static long captured(ZMTPMessage message, int snapLength) {
        long captured = 0;
        for (int i = 0; i < message.size(); i++) {
            captured += ZMTPFraming.MAX_HEADER + Math.min(message.frame(i).readableBytes(), snapLength);
        }
        return captured;
    }

    int segments() {
        return runs.stream().mapToInt(Run::segments).sum();
    }

    long captured() {
        return runs.stream().mapToLong(run -> run.bytes().length).sum();
    }

    long length() {
        return runs.stream().mapToLong(Run::length).sum();
    }
}
