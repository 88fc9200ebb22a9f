package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.Closeable;
import java.util.List;

/**
 * Reads an application's own type straight out of frames, with no {@code ZMTPMessage} between.
 *
 * <p>For each frame of a message, {@link #header} is called once and {@link #content} once or more, and at the end of the
 * message {@link #finish}. What any of them adds to {@code out} is fired down the pipeline at once, in order. The limits of
 * the config are judged before {@code header} is called.
 *
 * <p>Give the config a factory or a class with a constructor without arguments. Each connection has its own decoder, made
 * when its handshake is complete and called on the channel's event loop only. An exception ends the connection.
 */
public interface ZMTPDecoder extends Closeable {

    /**
     * A frame starts.
     *
     * @param length the octets of its body
     * @param more whether another frame of the same message follows it
     */
    void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out);

    /**
     * Octets of the frame are there: its rest, or as many as have arrived. A frame without octets is told of with an empty
     * buffer.
     *
     * <p>{@code data} stays the codec's and is a part of what was read from the peer: read from its reader index on, and
     * change neither its octets nor its writer index. Of what should last take {@code readRetainedSlice} or a copy, never
     * {@code data} itself, whose indices move on to the next frames. What is left unread is given again: at once if some of it
     * was read, else with the octets that follow in the same frame. What is left at the frame's end is skipped.
     */
    void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out);

    /** The message is complete. */
    void finish(ChannelHandlerContext ctx, List<Object> out);

    /** Lets go of what is held, such as half a message. Called exactly once, when the connection or its codec ends. */
    @Override
    void close();

    /** Makes a decoder for each connection. Shared by channels: must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new decoder for the connection of {@code session}. */
        ZMTPDecoder decoder(ZMTPSession session);
    }
}
