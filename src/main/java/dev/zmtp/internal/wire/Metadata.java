package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The encoding of properties (RFC 37, "Connection Metadata").
 *
 * <pre>
 *   metadata = *property
 *   property = name-length:1 (1..255)  name  value-length:4 (0..2^31-1)  value
 * </pre>
 */
public final class Metadata {

    private static final int VALUE_LENGTH_BYTES = 4;

    private Metadata() {}

    /** Returns the encoded length of {@code metadata}, in bytes. */
    public static int length(ZMTPMetadata metadata) {
        int length = 0;
        for (int i = 0; i < metadata.size(); i++) {
            length += 1
                    + metadata.name(i).length()
                    + VALUE_LENGTH_BYTES
                    + metadata.value(i).remaining();
        }
        return length;
    }

    /** Appends {@code metadata} to {@code out}. */
    public static void write(ByteBuf out, ZMTPMetadata metadata) {
        for (int i = 0; i < metadata.size(); i++) {
            String name = metadata.name(i);
            out.writeByte(name.length());
            out.writeCharSequence(name, StandardCharsets.ISO_8859_1);
            out.writeInt(metadata.value(i).remaining()).writeBytes(metadata.value(i));
        }
    }

    /**
     * Reads properties to the end of {@code in}.
     *
     * @throws ZMTPException if the bytes are not whole properties, there are more than {@code maxProperties}, or
     *     Socket-Type or Identity occur twice
     */
    public static ZMTPMetadata read(ByteBuf in, int maxProperties) {
        ZMTPMetadata metadata = ZMTPMetadata.EMPTY;
        while (in.isReadable()) {
            if (metadata.size() == maxProperties) {
                throw ZMTPException.tooLarge("metadata properties", maxProperties + 1L, maxProperties);
            }
            int nameLength = in.readUnsignedByte();
            if (nameLength == 0 || nameLength > in.readableBytes()) {
                throw ZMTPException.malformed("property name length", nameLength, "1 to " + in.readableBytes());
            }
            String name =
                    in.readCharSequence(nameLength, StandardCharsets.ISO_8859_1).toString();
            if (in.readableBytes() < VALUE_LENGTH_BYTES) {
                throw ZMTPException.malformed("bytes after a property name", in.readableBytes(), ">= 4");
            }
            long valueLength = in.readUnsignedInt();
            if (valueLength > in.readableBytes()) {
                throw ZMTPException.malformed("property value length", valueLength, "<= " + in.readableBytes());
            }
            checkUnique(metadata, name);
            metadata = metadata.with(name, in.nioBuffer(in.readerIndex(), (int) valueLength));
            in.skipBytes((int) valueLength);
        }
        return metadata;
    }

    /**
     * Rejects duplicates, because the code that checks a property and the code that uses it must see the same value.
     */
    private static void checkUnique(ZMTPMetadata metadata, String name) {
        boolean unique =
                name.equalsIgnoreCase(ZMTPMetadata.SOCKET_TYPE) || name.equalsIgnoreCase(ZMTPMetadata.IDENTITY);
        if (unique && metadata.value(name) != null) {
            throw ZMTPException.malformed("property", "a second " + name, "one");
        }
    }
}
