package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Logs frames at trace level, one line per frame: direction, version, flags, length of the body, and its first bytes as
 * sent on the wire.
 *
 * <pre>
 *   [id: 0x7a4c1b2e, ...] &lt;&lt; ZMTP31 MORE 5 68656c6c6f
 *   [id: 0x7a4c1b2e, ...] &gt;&gt; ZMTP31 COMMAND 7 0450494e470000
 * </pre>
 *
 * <p>Only the name of a handshake command is shown, because the rest can be a password.
 */
public final class FrameLog {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.FrameLog");

    private static final String IN = "<<";
    private static final String OUT = ">>";
    private static final int SHOWN_BYTES = 16;

    private final Channel channel;
    private final ZMTPVersion version;

    private FrameLog(Channel channel, ZMTPVersion version) {
        this.channel = channel;
        this.version = version;
    }

    /** Returns the log of a connection, or null if it is off. The only cost is then the check for null. */
    public static @Nullable FrameLog of(Channel channel, ZMTPVersion version) {
        return logger.isTraceEnabled() ? new FrameLog(channel, version) : null;
    }

    /**
     * Logs a frame that has arrived, possibly in part. {@code in} has the available part of its body. Moves no index.
     */
    public void received(int flags, long length, ByteBuf in) {
        line(IN, flags, length, bytes(in, in.readerIndex(), length));
    }

    /**
     * Logs a buffer of frames that is passed to the transport. The body of the last frame can follow separately. Moves
     * no index.
     */
    public void sent(ByteBuf frames) {
        ZMTPFraming framing = version.framing();
        int index = frames.readerIndex();
        while (index < frames.writerIndex()) {
            int flags = framing.flagsAt(frames, index);
            long length = framing.bodyLengthAt(frames, index);
            index += framing.headerLengthFromFirstByte(frames.getUnsignedByte(index));
            if (length <= frames.writerIndex() - index) {
                line(OUT, flags, length, bytes(frames, index, length));
            }
            index += (int) length;
        }
    }

    /** Logs a frame whose body is sent separately. Moves no index. */
    public void sent(int flags, ByteBuf body) {
        line(OUT, flags, body.readableBytes(), bytes(body, body.readerIndex(), body.readableBytes()));
    }

    /** Logs a handshake command that has arrived. Moves no index. */
    public void receivedCommand(ByteBuf command) {
        line(IN, ZMTPFraming.COMMAND, command.readableBytes(), name(command));
    }

    /** Logs a handshake command that is sent. Moves no index. */
    public void sentCommand(ByteBuf command) {
        line(OUT, ZMTPFraming.COMMAND, command.readableBytes(), name(command));
    }

    private static String name(ByteBuf command) {
        try {
            return Command.read(command.duplicate()).name();
        } catch (ZMTPException e) {
            return "malformed";
        }
    }

    private static String bytes(ByteBuf in, int index, long length) {
        int shown = (int) Math.min(Math.min(length, SHOWN_BYTES), in.writerIndex() - index);
        String hex = ByteBufUtil.hexDump(in, index, shown);
        return shown < length ? hex + ".." : hex;
    }

    private void line(String direction, int flags, long length, String body) {
        String words = (flags & ZMTPFraming.COMMAND) != 0 ? "COMMAND" : (flags & ZMTPFraming.MORE) != 0 ? "MORE" : "-";
        logger.trace("{} {} {} {} {} {}", channel, direction, version, words, length, body);
    }
}
