package dev.zmtp.cli;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.internal.wire.Metadata;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.security.ZMTPPlain;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one direction of a connection as lines of text, one for the greeting and one for each frame. Between
 * reads it keeps only the beginning of a frame. Most commands of a mechanism are shown without their data, because that
 * of a HELLO can be a password. Both directions are guarded by the lock of their connection.
 */
final class WireText {

    /** Maximum number of bytes of a frame that are shown. */
    static final int MAX_SHOWN = 1 << 16;

    /** Maximum number of bytes before the version of the other side is known. */
    private static final int MAX_PENDING = 1 << 16;

    private static final int MAX_PROPERTIES = 100;

    /** Properties whose values are shown. */
    private static final Set<String> OPEN =
            Set.of(ZMTPMetadata.SOCKET_TYPE, ZMTPMetadata.IDENTITY, ZMTPMetadata.RESOURCE);

    private static final String SEALED = "\u0007MESSAGE";

    private final MessageFormat format;
    private final Consumer<String> lines;
    private final ByteBuf pending = Unpooled.buffer();
    private final ByteBuf body = Unpooled.buffer();
    private @Nullable WireText other;

    /** The revision of the greeting, 0 for a peer of ZMTP 1.0 without a greeting; -1 until it is known. */
    private int revision = -1;

    private String mechanism = "";
    private @Nullable FrameReader frames;

    /** Whether a part of a frame was read. */
    private boolean inBody;

    private boolean stopped;

    WireText(MessageFormat format, Consumer<String> lines) {
        this.format = format;
        this.lines = lines;
    }

    /** Tells both directions of each other, because the older version of the two determines the frames. */
    static void pair(WireText one, WireText two) {
        one.other = two;
        two.other = one;
    }

    /** Reads all bytes of {@code in}. */
    void read(ByteBuf in) {
        if (stopped) {
            return;
        }
        if (frames == null) {
            pending.writeBytes(in);
        }
        advance(in);
        if (other != null) {
            other.advance(Unpooled.EMPTY_BUFFER); // it can have waited for the version of this side
        }
    }

    private void advance(ByteBuf in) {
        try {
            if (!stopped && frames == null) {
                findRevision();
                begin();
                if (frames == null && pending.readableBytes() > MAX_PENDING) {
                    stop("version of the other side: not known after " + pending.readableBytes() + " bytes");
                }
            } else if (!stopped) {
                readFrames(in);
            }
        } catch (ZMTPException e) {
            stop(e.getMessage());
        }
    }

    private void stop(@Nullable String reason) {
        stopped = true;
        pending.clear();
        lines.accept(reason + ", not shown from here");
    }

    private void findRevision() {
        if (revision >= 0 || pending.readableBytes() < 2) {
            return;
        }
        if (pending.getUnsignedByte(0) != Greeting.SIGNATURE_FIRST) {
            if (pending.getByte(1) != 0) { // the flags of an identity
                throw Greeting.notZmtp(pending.getUnsignedByte(0), pending.getUnsignedByte(1));
            }
            revision = 0;
        } else if (pending.readableBytes() >= Greeting.SIGNATURE_LENGTH
                && (pending.getByte(Greeting.SIGNATURE_LAST_OFFSET) & 1) == 0) {
            revision = 0;
        } else if (pending.readableBytes() > Greeting.REVISION_OFFSET) {
            revision = pending.getUnsignedByte(Greeting.REVISION_OFFSET);
        }
    }

    /** Reads the greeting, and frames after it, as soon as both versions are known. */
    private void begin() {
        int theirs = other == null ? -1 : other.revision;
        if (frames != null || revision < 0 || theirs < 0) {
            return;
        }
        int agreed = Math.min(revision, theirs);
        if (agreed == ZMTPVersion.ZMTP10.revision()) {
            lines.accept("ZMTP 1.0, no greeting"); // a signature is the header of an identity, then
            frames = new FrameReader(ZMTPVersion.ZMTP10, reserved -> {});
        } else if (agreed < ZMTPVersion.ZMTP30.revision()) {
            begin(ZMTPVersion.ZMTP20, Greeting.V2_LENGTH);
        } else {
            begin(ZMTPVersion.ZMTP31, Greeting.V3_LENGTH);
        }
        if (frames != null) {
            readFrames(pending);
            pending.clear();
        }
    }

    private void begin(ZMTPVersion version, int length) {
        if (pending.readableBytes() < length) {
            return;
        }
        ByteBuf greeting = pending.readSlice(length);
        int minor = greeting.getUnsignedByte(Greeting.MINOR_OFFSET);
        if (version == ZMTPVersion.ZMTP20) {
            lines.accept("greeting: ZMTP 2.0, socket type " + minor);
        } else {
            String padded = greeting.toString(
                    Greeting.MINOR_OFFSET + 1, Greeting.MAX_MECHANISM_LENGTH, StandardCharsets.ISO_8859_1);
            mechanism = padded.replaceAll("\0+$", "");
            lines.accept("greeting: ZMTP " + revision + "." + minor + ", " + printable(mechanism));
        }
        frames = new FrameReader(version, reserved -> {});
    }

    private void readFrames(ByteBuf in) {
        FrameReader reader = frames;
        while (reader != null && (inBody || reader.readHeader(in))) {
            if (!inBody) {
                reader.beginParts();
            }
            int part = reader.takePart(in);
            body.writeBytes(in, in.readerIndex(), Math.min(part, MAX_SHOWN - body.readableBytes()));
            in.skipBytes(part);
            inBody = reader.isInBody();
            if (inBody) {
                return;
            }
            show(reader);
            body.clear();
        }
    }

    private void show(FrameReader frame) {
        if (frame.isCommand()) {
            lines.accept(command(frame.length()));
            return;
        }
        String text = isSealed() ? "sealed, " + frame.length() + " bytes" : shown(body, frame.length());
        lines.accept((frame.hasMore() ? "+ " : "") + text);
    }

    /** Returns whether the mechanism encrypts nothing. */
    private boolean isOpen() {
        return mechanism.equals(ZMTPNull.NAME) || mechanism.equals(ZMTPPlain.NAME);
    }

    private boolean isSealed() {
        return !isOpen()
                && body.readableBytes() > SEALED.length()
                && SEALED.equals(body.toString(0, SEALED.length(), StandardCharsets.ISO_8859_1));
    }

    private String shown(ByteBuf bytes, long length) {
        String text = format.line(List.of(ByteBufUtil.getBytes(bytes)));
        return length > MAX_SHOWN ? text + "... of " + length + " bytes" : text;
    }

    private String command(long length) {
        Command command = Command.read(body);
        String name = printable(body.toString(1, body.readerIndex() - 1, StandardCharsets.ISO_8859_1));
        return switch (command) {
            case SUBSCRIBE, CANCEL, JOIN, LEAVE -> name + " " + shown(body, length);
            case ERROR -> name + " " + (body.isReadable() ? shown(body.skipBytes(1), length) : "");
            case READY -> name + properties(length);
            default -> name + ", " + length + " bytes";
        };
    }

    /** Returns text of a peer without control characters, which could forge lines. */
    private static String printable(String text) {
        String quoted = Quoted.print(text.getBytes(StandardCharsets.ISO_8859_1));
        return quoted.substring(1, quoted.length() - 1);
    }

    private String properties(long length) {
        try {
            return isOpen() ? " " + properties(Metadata.read(body, MAX_PROPERTIES)) : ", " + length + " bytes";
        } catch (ZMTPException e) { // too long, or not as the RFC has it
            return ", " + length + " bytes";
        }
    }

    /** Returns the names, and the values of those that are not an application's, which can be secrets. */
    private static String properties(ZMTPMetadata metadata) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < metadata.size(); i++) {
            text.append(i == 0 ? "" : ", ")
                    .append(printable(metadata.name(i)))
                    .append(' ')
                    .append(
                            OPEN.contains(metadata.name(i))
                                    ? Quoted.print(Frames.bytes(metadata.value(i)))
                                    : "of " + metadata.value(i).remaining() + " bytes");
        }
        return text.toString();
    }
}
