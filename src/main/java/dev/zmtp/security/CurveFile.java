package dev.zmtp.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keys in files, in the form of CZMQ's certificates (RFC 4, ZPL).
 *
 * <pre>
 *   curve
 *       public-key = "40 characters of Z85"
 *       secret-key = "40 characters of Z85"
 * </pre>
 *
 * <p>All content is kept in byte arrays, because strings cannot be wiped. {@link #close} wipes the content.
 */
final class CurveFile implements AutoCloseable {

    private static final int MAX_LENGTH = 64 << 10;
    private static final String PUBLIC_KEY = "public-key";
    private static final String SECRET_KEY = "secret-key";
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private final Path file;
    private final byte[] content;

    private CurveFile(Path file, byte[] content) {
        this.file = file;
        this.content = content;
    }

    /** Reads a file, without checking its content. */
    static CurveFile read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new CurveFile(file, in.readNBytes(MAX_LENGTH + 1));
        }
    }

    ZMTPCurvePublicKey publicKey() throws IOException {
        return ZMTPCurvePublicKey.of(key(PUBLIC_KEY));
    }

    /** Returns the secret key, to be wiped by the caller. */
    byte[] secretKey() throws IOException {
        if (isPosix(file) && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
            throw new IOException(file + ": readable by everyone (expected: only by its owner, as after chmod 600)");
        }
        return key(SECRET_KEY);
    }

    private byte[] key(String name) throws IOException {
        if (content.length > MAX_LENGTH) {
            throw new IOException(file + ": longer than " + MAX_LENGTH + " bytes (expected: a file with a key)");
        }
        byte[] value = value(content, name);
        if (value == null) {
            throw new IOException(file + ": no " + name + " (expected: a line " + name + " = \"...\")");
        }
        try {
            return Z85.decode(name, value, Curve25519.KEY_LENGTH);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        } finally {
            Arrays.fill(value, (byte) 0);
        }
    }

    /** Wipes the content. */
    @Override
    public void close() {
        Arrays.fill(content, (byte) 0);
    }

    /** Returns the text between the quotes in the line of that name, or null. */
    private static byte @Nullable [] value(byte[] content, String name) {
        for (int start = 0, end; start < content.length; start = end + 1) {
            end = indexOf(content, '\n', start, content.length);
            int at = start;
            while (at < end && (content[at] == ' ' || content[at] == '\t')) {
                at++;
            }
            if (startsWith(content, at, end, name)) {
                int open = indexOf(content, '"', at, end) + 1;
                int close = indexOf(content, '"', open, end);
                return close < end ? Arrays.copyOfRange(content, open, close) : null;
            }
        }
        return null;
    }

    private static boolean startsWith(byte[] content, int at, int end, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        int nameEnd = at + bytes.length;
        return nameEnd < end
                && Arrays.equals(content, at, nameEnd, bytes, 0, bytes.length)
                && (content[nameEnd] == ' ' || content[nameEnd] == '=' || content[nameEnd] == '\t');
    }

    private static int indexOf(byte[] content, char wanted, int from, int end) {
        for (int i = from; i < end; i++) {
            if (content[i] == wanted) {
                return i;
            }
        }
        return end;
    }

    static void write(Path file, ZMTPCurvePublicKey publicKey, byte[] secretKey) throws IOException {
        byte[] characters = Z85.encode(secretKey);
        ByteBuffer content = ByteBuffer.allocate(1024);
        try {
            content.put(ascii("#   A CURVE secret key. Anyone who can read this file can act as its owner.\n\n"));
            content.put(ascii("curve\n    " + PUBLIC_KEY + " = \"" + publicKey.z85() + "\"\n"));
            content.put(ascii("    " + SECRET_KEY + " = \""))
                    .put(characters)
                    .put(ascii("\"\n"))
                    .flip();
            writeSecret(file, content);
        } finally {
            Arrays.fill(characters, (byte) 0);
            Arrays.fill(content.array(), (byte) 0);
        }
    }

    static void write(Path file, ZMTPCurvePublicKey publicKey) throws IOException {
        writeNew(
                file,
                ByteBuffer.wrap(ascii(
                        "#   A CURVE public key.\n\ncurve\n    " + PUBLIC_KEY + " = \"" + publicKey.z85() + "\"\n")));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Creates the file with its permissions. If they were set later, other users could read the file before. */
    private static void writeSecret(Path file, ByteBuffer content) throws IOException {
        if (!isPosix(file)) {
            throw new IOException(file
                    + ": on a file system without POSIX permissions (expected: one where only its owner can read it)");
        }
        writeNew(file, content, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    }

    /** Writes a new file, or none. A partial file would contain a part of a secret, and obstruct the next attempt. */
    private static void writeNew(Path file, ByteBuffer content, FileAttribute<?>... attributes) throws IOException {
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        SeekableByteChannel created = Files.newByteChannel(file, options, attributes);
        try (SeekableByteChannel out = created) {
            while (content.hasRemaining()) {
                out.write(content);
            }
        } catch (IOException | RuntimeException e) {
            delete(file, e);
            throw e;
        }
    }

    private static void delete(Path file, Exception cause) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private static boolean isPosix(Path file) {
        FileSystem system = file.getFileSystem();
        return system.supportedFileAttributeViews().contains("posix");
    }
}
