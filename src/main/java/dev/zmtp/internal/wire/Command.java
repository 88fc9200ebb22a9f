package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The commands with names that are known to this library (RFC 23 and 37; JOIN and LEAVE: RFC 48).
 *
 * <pre>
 *   command-body = name-length:1  name  data
 *   name         = 1*255 letters, case-sensitive, with no separator after it
 * </pre>
 */
public enum Command {
    /** Begins a PLAIN handshake with user name and password, or a CURVE handshake with a public key. */
    HELLO,
    /** Replies to a HELLO. */
    WELCOME,
    /** Replies to a WELCOME. The data is metadata, in a box in CURVE. */
    INITIATE,
    /** Ends a NULL, PLAIN or CURVE handshake. The data is metadata, in a box in CURVE. */
    READY,
    /** Rejects a peer during the handshake. The data is a reason with its length in one byte. */
    ERROR,
    /** Subscribes to a topic of a publisher. The data is the topic. */
    SUBSCRIBE,
    /** Cancels a subscription to a topic. The data is the topic. */
    CANCEL,
    /** Requests a PONG. The data is a TTL in tenths of a second (two bytes) and a context. */
    PING,
    /** Replies to a PING. The data is the context of the PING. */
    PONG,
    /** Joins a group of a RADIO. The data is the group. */
    JOIN,
    /** Leaves a group. The data is the group. */
    LEAVE,
    /** Any other name. Must be ignored in traffic, so that a later version can add commands. */
    UNKNOWN;

    private static final Command[] KNOWN =
            Arrays.stream(values()).filter(command -> command != UNKNOWN).toArray(Command[]::new);

    /** Maximum length of the reason of an ERROR, and of a name, in bytes. */
    public static final int MAX_STRING_LENGTH = 255;
    /** Maximum length of the context of a PING, in bytes. */
    public static final int MAX_CONTEXT_LENGTH = 16;
    /** Length of the context of {@link #writeUncertain}. No PING has one of this length. */
    public static final int UNCERTAIN_LENGTH = 1 + Long.BYTES;

    private static final int UNCERTAIN = '?';
    /** Length of the TTL of a PING, in bytes. */
    public static final int TTL_LENGTH = 2;

    /**
     * Reads the name of the command whose body is {@code body}, and moves the reader index to its data.
     *
     * @throws ZMTPException if the body is empty, has an empty name, or ends within the name
     */
    public static Command read(ByteBuf body) {
        if (!body.isReadable()) {
            throw ZMTPException.malformed("command body length", 0, ">= 1");
        }
        int length = body.readUnsignedByte();
        if (length == 0 || length > body.readableBytes()) {
            throw ZMTPException.malformed("command name length", length, "1 to " + body.readableBytes());
        }
        int start = body.readerIndex();
        body.skipBytes(length);
        for (Command command : KNOWN) {
            if (command.isNamedAt(body, start, length)) {
                return command;
            }
        }
        return UNKNOWN;
    }

    private boolean isNamedAt(ByteBuf body, int start, int length) {
        if (length != name().length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (body.getByte(start + i) != name().charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the start of the body of this command, with room for {@code data} more bytes. The caller must release it.
     */
    public ByteBuf body(ByteBufAllocator alloc, int data) {
        ByteBuf body = alloc.buffer(1 + name().length() + data).writeByte(name().length());
        body.writeCharSequence(name(), StandardCharsets.US_ASCII);
        return body;
    }

    /** Returns the body of this command with the readable bytes of {@code data}, whose indices are not moved. */
    public ByteBuf body(ByteBufAllocator alloc, ByteBuf data) {
        return body(alloc, data.readableBytes()).writeBytes(data, data.readerIndex(), data.readableBytes());
    }

    /** Returns the body of this command with {@code metadata} as its data. The caller must release it. */
    public ByteBuf body(ByteBufAllocator alloc, ZMTPMetadata metadata) {
        ByteBuf body = body(alloc, Metadata.length(metadata));
        Metadata.write(body, metadata);
        return body;
    }

    /**
     * Returns the body of an ERROR, which the caller must release. The reason is truncated to 255 bytes of printable
     * ASCII.
     */
    public static ByteBuf error(ByteBufAllocator alloc, String reason) {
        String printable = printable(reason);
        String cut = printable.substring(0, Math.min(printable.length(), MAX_STRING_LENGTH));
        ByteBuf body = ERROR.body(alloc, 1 + cut.length()).writeByte(cut.length());
        body.writeCharSequence(cut, StandardCharsets.US_ASCII);
        return body;
    }

    /**
     * Reads the reason from the data of an ERROR, and replaces unprintable characters.
     *
     * @throws ZMTPException if the data is not exactly one reason
     */
    public static String readReason(ByteBuf data) {
        if (!data.isReadable()) {
            throw ZMTPException.malformed("ERROR data length", 0, ">= 1");
        }
        int length = data.readUnsignedByte();
        if (length != data.readableBytes()) {
            throw ZMTPException.malformed("ERROR reason length", length, String.valueOf(data.readableBytes()));
        }
        return printable(
                data.readCharSequence(length, StandardCharsets.ISO_8859_1).toString());
    }

    /** Returns {@code text} with all characters except printable ASCII replaced, so that it is safe in a log. */
    public static String printable(String text) {
        return text.replaceAll("[^ -~]", "?");
    }

    /**
     * Writes the context of a PONG that a translator of another protocol cannot assign to a PING.
     *
     * @param bytes maximum number of bytes before the end of the last PING without a context that the peer has not read
     */
    public static void writeUncertain(ByteBuf out, long bytes) {
        out.writeByte(UNCERTAIN).writeLong(bytes);
    }

    /** Returns the bytes of {@link #writeUncertain}, or -1 for another context. */
    public static long uncertain(ByteBuf context) {
        int index = context.readerIndex();
        boolean is = context.readableBytes() == UNCERTAIN_LENGTH && context.getByte(index) == UNCERTAIN;
        return is ? context.getLong(index + 1) : -1;
    }

    /** Returns the body of a PING, which the caller must release and to which a context can be appended. */
    public static ByteBuf ping(ByteBufAllocator alloc, int ttlDeciseconds) {
        return PING.body(alloc, TTL_LENGTH).writeShort(ttlDeciseconds);
    }

    /**
     * Checks the data of a PING and moves the reader index of {@code data} to the context.
     *
     * @return the TTL in tenths of a second, 0 to 65535
     * @throws ZMTPException if the data is shorter than a TTL, or the context longer than 16 bytes
     */
    public static int readTtl(ByteBuf data) {
        if (data.readableBytes() < TTL_LENGTH) {
            throw ZMTPException.malformed("PING data length", data.readableBytes(), ">= " + TTL_LENGTH);
        }
        int ttl = data.readUnsignedShort();
        if (data.readableBytes() > MAX_CONTEXT_LENGTH) {
            throw ZMTPException.malformed("PING context length", data.readableBytes(), "<= " + MAX_CONTEXT_LENGTH);
        }
        return ttl;
    }
}
