package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * WebSocket frames of a peer into ZMTP frames (RFC 45).
 *
 * <p>A frame is translated as it arrives. Only a part of a header, the payload of a control frame and the fragments of
 * a message are retained.
 */
final class ZwsDecoder {

    /** Recipient of the translated bytes. */
    interface Output {

        /** Takes ownership of bytes of ZMTP. */
        void zmtp(ByteBuf bytes);

        /** Called when a close frame has arrived, after the bytes before it. The decoder ignores the rest. */
        void closed(byte[] payload);
    }

    private enum Step {
        HEADER,
        FLAGS,
        BODY,
        FRAGMENT,
        CONTROL
    }

    private final ByteBufAllocator alloc;
    private final FrameRules rules;
    private final ZwsPings pings;
    private final FragmentedMessage fragments;
    private final Output output;
    private final FrameRewriter rewriter;
    private final WebSocketHeader header = new WebSocketHeader();

    private Step step = Step.HEADER;

    /** True if no more bytes count. A callback can end the connection in the middle of a buffer. */
    private boolean ended;

    /** The number of bytes of the payload that are missing. */
    private long left;

    /** The key for the next byte of the payload. */
    private int key;

    private ByteBuf control = Unpooled.EMPTY_BUFFER;

    /** Payload of the close frame, once it has arrived. */
    private byte @Nullable [] closed;

    ZwsDecoder(ByteBufAllocator alloc, FrameRules rules, ZwsPings pings, FragmentedMessage fragments, Output output) {
        this.alloc = alloc;
        this.rules = rules;
        this.pings = pings;
        this.fragments = fragments;
        this.output = output;
        this.rewriter = new FrameRewriter(alloc, rules.isMasked(), output::zmtp);
    }

    /**
     * Reads all bytes of {@code in}, of which it takes ownership. No other code may use the bytes, because they are
     * overwritten.
     *
     * @throws ZMTPException for a bad frame, after the frames before it were passed on
     */
    void decode(ByteBuf in) {
        rewriter.begin(in);
        try {
            boolean more = true;
            while (more && !ended) {
                more = step(in);
            }
        } catch (Throwable e) {
            ended = true;
            throw e;
        } finally {
            rewriter.finish();
        }
        if (step != Step.BODY) {
            passCommands();
        }
        byte[] payload = closed;
        if (payload != null) {
            closed = null;
            output.closed(payload);
        }
    }

    /** Performs a step. Returns whether there can be another step with the same bytes. */
    private boolean step(ByteBuf in) {
        return switch (step) {
            case HEADER -> header(in);
            case FLAGS -> flags(in);
            case BODY -> body(in);
            case FRAGMENT -> fragment(in);
            case CONTROL -> control(in);
        };
    }

    private boolean header(ByteBuf in) {
        if (!header.read(in)) {
            return false;
        }
        if (fragments.isOpen() || !header.isFinal()) {
            rewriter.leave(); // a frame before it can complete the handshake, after which fragments can be longer
        }
        rules.check(header, fragments.isOpen(), fragments.length());
        left = header.length();
        key = header.key();
        if (header.isControl()) {
            control = left == 0 ? Unpooled.EMPTY_BUFFER : Unpooled.buffer((int) left, (int) left);
            step = Step.CONTROL;
        } else if (header.isFinal() && !fragments.isOpen()) {
            step = Step.FLAGS;
        } else {
            fragments.begin();
            step = Step.FRAGMENT;
        }
        return true;
    }

    // Frames that are whole messages of WebSocket

    private boolean flags(ByteBuf in) {
        if (!in.isReadable()) {
            return false;
        }
        int flags = in.readUnsignedByte() ^ Mask.byteOf(key, 0);
        key = Mask.after(1, key);
        left--;
        int framing = rules.framing(flags, left);
        int part = part(in);
        if (part < left) {
            passCommands(); // they cannot be within the frame, and its rest can take long
        }
        rewriter.frame(framing, left, part, key);
        arrived(part, Step.BODY);
        return true;
    }

    private boolean body(ByteBuf in) {
        int part = part(in);
        rewriter.body(part, key);
        return arrived(part, Step.BODY);
    }

    private int part(ByteBuf in) {
        return (int) Math.min(left, in.readableBytes());
    }

    /** Counts bytes of the payload. Returns whether it is complete; if not, the next step is {@code otherwise}. */
    private boolean arrived(int count, Step otherwise) {
        left -= count;
        key = Mask.after(count, key);
        step = left == 0 ? Step.HEADER : otherwise;
        return left == 0;
    }

    // Fragments

    private boolean fragment(ByteBuf in) {
        int part = part(in);
        fragments.add(in, part, key);
        if (!arrived(part, Step.FRAGMENT)) {
            return false;
        }
        if (header.isFinal()) {
            message();
        }
        return true;
    }

    private void message() {
        FrameRules.checkPayload(fragments.length());
        int framing = rules.framing(fragments.flags(), fragments.length() - 1L);
        ByteBuf frame = fragments.take(framing);
        rewriter.leave();
        output.zmtp(frame);
    }

    // Control frames

    private boolean control(ByteBuf in) {
        int part = part(in);
        control.writeBytes(in, part);
        if (!arrived(part, Step.CONTROL)) {
            return false;
        }
        byte[] payload = new byte[control.readableBytes()];
        control.readBytes(payload);
        control = Unpooled.EMPTY_BUFFER;
        Mask.apply(payload, header.key());
        switch (header.opcode()) {
            case WebSocketFrames.PING -> pings.received(payload);
            case WebSocketFrames.PONG -> pings.receivedPong(payload);
            default -> {
                closed = payload;
                ended = true;
            }
        }
        return true;
    }

    private void passCommands() {
        ByteBuf commands = pings.takeCommands(alloc);
        if (commands != null) {
            rewriter.leave();
            output.zmtp(commands);
        }
    }

    /** Returns whether fragments wait for the rest of their message. */
    boolean isCollecting() {
        return fragments.isOpen();
    }

    /** Describes the partially read frame, unless the codec has a part of it; null between frames. */
    @Nullable
    String unfinished() {
        if (fragments.isOpen()) {
            return "fragmented message: " + Math.max(0, fragments.length() - 1) + " bytes (expected: more)";
        }
        return header.isSplit() || step == Step.FLAGS || step == Step.CONTROL ? "WebSocket frame" : null;
    }

    /** Releases the retained data. Bytes that arrive later are ignored. */
    void close() {
        ended = true;
        fragments.close();
    }
}
