package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.Closeable;
import java.util.List;

/**
 * Decodes frames directly into an application's own type (RFC 37, "Framing"; RFC 23 for ZMTP 3.0), without a
 * {@code ZMTPMessage}.
 *
 * <p>For each frame of a message, {@link #header} is called once and {@link #content} at least once. {@link #finish} is
 * called at the end of the message. Objects that these methods add to {@code out} are fired down the pipeline at once,
 * in order. The limits of the config are checked before {@code header} is called.
 *
 * <p>Pass a factory, or a class with a constructor without arguments, to the config. Each connection has its own
 * decoder, created when its handshake is complete and called on the channel's event loop only. An exception ends the
 * connection.
 *
 * <p>The context is that of the codec. To close or to write, use {@code ctx.channel()}, because {@code ctx.write} would
 * pass a message to the transport unencoded. If {@code ctx.close()} closes the channel at once, as it does on the event
 * loop without TLS, nothing more is decoded.
 */
public interface ZMTPDecoder extends Closeable {

    /**
     * Called at the start of a frame.
     *
     * @param length the length of its body in bytes
     * @param more whether another frame of the same message follows it
     */
    void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out);

    /**
     * Called with the next part of the frame's body, which is the rest of the body or as much as has arrived. For an
     * empty frame it is called once with an empty buffer.
     *
     * <p>{@code data} remains owned by the codec and is a part of the bytes read from the peer. Read from its reader
     * index, and change neither its bytes nor its writer index. To keep bytes, use {@code readRetainedSlice} or a copy.
     * Do not keep {@code data} itself, because its indices move on to the next frames. Unread bytes are passed again,
     * at once if some bytes were read, otherwise together with the next part of the same frame. At the end of the frame
     * they are skipped.
     */
    void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out);

    /** Called at the end of a message. */
    void finish(ChannelHandlerContext ctx, List<Object> out);

    /**
     * Releases resources, such as those of an incomplete message. Called exactly once, when the connection or its codec
     * ends.
     */
    @Override
    void close();

    /** Creates a decoder for each connection. Shared by channels, so it must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new decoder for the connection of {@code session}. */
        ZMTPDecoder decoder(ZMTPSession session);
    }
}
