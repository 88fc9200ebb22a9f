package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.Closeable;
import java.util.List;

/**
 * Reads an application's own type directly from frames (RFC 37, "Framing"; RFC 23 for ZMTP 3.0), without a
 * {@code ZMTPMessage}.
 *
 * <p>For each frame of a message, {@link #header} is called once and {@link #content} once or more, and at the end of
 * the message {@link #finish}. What any of them adds to {@code out} is fired down the pipeline at once, in order. The
 * limits of the config are checked before {@code header} is called.
 *
 * <p>Give the config a factory or a class with a constructor without arguments. Each connection has its own decoder,
 * created when its handshake is complete and called on the channel's event loop only. An exception ends the connection.
 *
 * <p>The context is the codec's own. To close or to write, use {@code ctx.channel()}: {@code ctx.write} would pass a
 * message to the transport as it is. If {@code ctx.close()} closes the channel at once, as it does on the event loop
 * without TLS, nothing more is decoded.
 */
public interface ZMTPDecoder extends Closeable {

    /**
     * A frame starts.
     *
     * @param length the length of its body in bytes
     * @param more whether another frame of the same message follows it
     */
    void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out);

    /**
     * Called with the next part of the frame's body: the rest of it, or as much as has arrived. An empty frame gets one
     * call with an empty buffer.
     *
     * <p>{@code data} stays the codec's and is a part of what was read from the peer. Read from its reader index on;
     * change neither its bytes nor its writer index. To keep some of it, take {@code readRetainedSlice} or a copy,
     * never {@code data} itself, whose indices move on to the next frames. Bytes that are left unread are passed again:
     * at once if some were read, otherwise together with the next part of the same frame. At the frame's end they are
     * skipped.
     */
    void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out);

    /** The message is complete. */
    void finish(ChannelHandlerContext ctx, List<Object> out);

    /**
     * Releases resources, such as those of an incomplete message. Called exactly once, when the connection or its codec
     * ends.
     */
    @Override
    void close();

    /** Creates a decoder for each connection. Shared by channels: must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new decoder for the connection of {@code session}. */
        ZMTPDecoder decoder(ZMTPSession session);
    }
}
