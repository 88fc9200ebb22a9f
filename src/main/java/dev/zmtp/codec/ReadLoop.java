package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Gives what was read to the phase, one buffer after the other, and passes what one phase leaves unread to the next.
 *
 * <p><b>Re-entrancy.</b> A callback, such as the handler of a message, can make the transport read again. What that
 * brings is queued and decoded after the current buffer. Any exception while decoding ends the connection.
 */
final class ReadLoop {

    private final ZMTPCodec codec;
    private final ChannelHandlerContext ctx;

    /** A buffer is being decoded, or a step of the handshake is being made. */
    private boolean busy;

    private @Nullable Queue<ByteBuf> queued;

    ReadLoop(ZMTPCodec codec, ChannelHandlerContext ctx) {
        this.codec = codec;
        this.ctx = ctx;
    }

    /** Takes over {@code in}. */
    void read(ByteBuf in) {
        if (busy) {
            queue(in);
            return;
        }
        busy = true;
        try {
            consume(in);
            consumeQueued();
        } finally {
            busy = false;
        }
    }

    /** As {@link #guarded}; what callbacks make the transport read meanwhile comes after the step. */
    void step(Runnable step) {
        if (busy) {
            guarded(step);
            return;
        }
        busy = true;
        try {
            guarded(step);
            consumeQueued();
        } finally {
            busy = false;
        }
    }

    private void queue(ByteBuf in) {
        if (queued == null) {
            queued = new ArrayDeque<>();
        }
        queued.add(in);
    }

    private void consumeQueued() {
        for (ByteBuf next = nextQueued(); next != null; next = nextQueued()) {
            consume(next);
        }
    }

    private @Nullable ByteBuf nextQueued() {
        return queued == null ? null : queued.poll();
    }

    private void consume(ByteBuf in) {
        try {
            decode(in);
            if (codec.wasRemoved() && in.isReadable()) {
                ctx.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
            }
        } finally {
            in.release();
        }
    }

    private void decode(ByteBuf in) {
        try {
            Phase before = null;
            while (!codec.wasRemoved() && before != codec.phase() && in.isReadable()) {
                before = codec.phase();
                before.read(in);
            }
        } catch (Throwable e) {
            codec.fail(asDecoderException(e));
        }
    }

    /** Makes a step of the handshake. */
    void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            codec.fail(asDecoderException(e));
        }
    }

    /** Adds the peer's address: often the log line is all that an operator has. */
    private DecoderException asDecoderException(Throwable e) {
        String peer = codec.session().peer();
        if (e instanceof ZMTPException fault) {
            return new ZMTPException(fault.code(), fault.getMessage() + ", peer " + peer, fault.getCause());
        }
        return e instanceof DecoderException known ? known : new DecoderException("peer " + peer + ": " + e, e);
    }
}
