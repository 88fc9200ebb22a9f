package dev.zmtp.internal.capture;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The file that is written, and its successors. Each has a section and interfaces of its own. */
final class CaptureFile {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.capture.ZMTPCapture");

    private static final int BUFFER = 64 << 10;

    /** An interface in the current file. */
    private static final class Numbered {
        final int number;
        long received;

        Numbered(int number) {
            this.number = number;
        }
    }

    private final CaptureSettings settings;
    private final long opened;
    private final CapturedInterface unknown;
    private final Supplier<? extends Collection<CapturedInterface>> interfaces;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    private final Map<CapturedInterface, Numbered> numbers = new LinkedHashMap<>();

    /** The files that are kept, the oldest first. */
    private final Deque<Path> kept = new ArrayDeque<>();

    private @Nullable FileChannel channel;
    private Path path;
    private int index;
    private long length;

    /**
     * @param opened time since 1970 in nanoseconds
     * @param unknown interface of packets that were dropped before their interface was known
     * @param interfaces returns the other interfaces
     */
    CaptureFile(
            CaptureSettings settings,
            long opened,
            CapturedInterface unknown,
            Supplier<? extends Collection<CapturedInterface>> interfaces)
            throws IOException {
        this.settings = settings;
        this.opened = opened;
        this.unknown = unknown;
        this.interfaces = interfaces;
        this.path = settings.file();
        beginFirst();
    }

    private void beginFirst() throws IOException {
        if (settings.overwrite()) {
            Files.deleteIfExists(path);
            if (settings.files() > 1) {
                deleteSuccessors();
            }
        }
        begin();
    }

    /** Deletes the other files of an earlier capture, whose first file no longer exists if there were many. */
    private void deleteSuccessors() throws IOException {
        Path folder = Objects.requireNonNullElse(
                path.getParent(), path.getFileSystem().getPath(""));
        List<Path> earlier = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
            all.forEach(each -> {
                if (isSuccessor(String.valueOf(each.getFileName()))) {
                    earlier.add(each);
                }
            });
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        for (Path each : earlier) {
            Files.deleteIfExists(each);
        }
    }

    boolean isOpen() {
        return channel != null;
    }

    private void begin() throws IOException {
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        channel = FileChannel.open(path, options, permissions());
        kept.addLast(path);
        length = 0;
        numbers.clear();
        try {
            append(PcapngBlocks.section("netty-zmtp" + version()));
            flush();
        } catch (IOException e) {
            abandon();
            throw e;
        }
    }

    private FileAttribute<?>[] permissions() {
        boolean isPosix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return isPosix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }

    private static String version() {
        String version = CaptureFile.class.getPackage().getImplementationVersion();
        return version == null ? "" : " " + version;
    }

    /** Writes a packet's block. Returns false if the file is full and has no successor, or was closed. */
    boolean write(CapturedInterface at, byte[] block) throws IOException {
        if (channel == null) {
            return false;
        }
        Numbered numbered = numbers.get(at);
        byte[] description = numbered == null ? at.block() : new byte[0];
        if (length + description.length + block.length > settings.maxBytes()) {
            if (settings.files() == 1) {
                at.dropped(1);
                close();
                return false;
            }
            next();
            numbered = null;
            description = at.block();
        }
        if (numbered == null) {
            append(description);
            numbered = number(at);
        }
        PcapngBlocks.setInterface(block, numbered.number);
        numbered.received++;
        append(block);
        return true;
    }

    private Numbered number(CapturedInterface at) {
        Numbered next = new Numbered(numbers.size());
        numbers.put(at, next);
        return next;
    }

    private void next() throws IOException {
        close(true);
        if (kept.size() == settings.files()) {
            delete(kept.removeFirst());
        }
        while (channel == null) {
            path = successor(++index);
            try {
                begin();
            } catch (FileAlreadyExistsException e) { // of another capture
                logger.debug("{} exists, so the capture uses the next name", path);
            }
        }
        logger.debug("The capture goes on in {}", path);
    }

    private static void delete(Path oldest) {
        try {
            Files.deleteIfExists(oldest);
        } catch (IOException e) { // such as that somebody reads it, on Windows
            logger.debug("{} cannot be deleted", oldest, e);
        }
    }

    private Path successor(int number) {
        return settings.file().resolveSibling(beforeNumber() + number + afterNumber());
    }

    private boolean isSuccessor(String name) {
        String before = beforeNumber();
        String after = afterNumber();
        int end = name.length() - after.length();
        return name.startsWith(before)
                && name.endsWith(after)
                && end > before.length()
                && name.substring(before.length(), end).chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private String beforeNumber() {
        String name = name();
        return name.substring(0, extension(name)) + ".";
    }

    private String afterNumber() {
        String name = name();
        return name.substring(extension(name));
    }

    private String name() {
        return String.valueOf(settings.file().getFileName());
    }

    private static int extension(String name) {
        int dot = name.lastIndexOf('.');
        return dot <= 0 ? name.length() : dot;
    }

    private void append(byte[] block) throws IOException {
        length += block.length;
        if (block.length > buffer.remaining()) {
            flush();
        }
        buffer.put(block); // no block is longer than the buffer
    }

    void flush() throws IOException {
        FileChannel to = channel;
        if (to != null) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                to.write(buffer);
            }
            buffer.clear();
        }
    }

    /** Writes the statistics of all interfaces, and closes the file. */
    void close() throws IOException {
        close(false);
    }

    private void close(boolean continues) throws IOException {
        FileChannel ending = channel;
        if (ending == null) {
            return;
        }
        describeDropped();
        boolean isPart = continues || index > 0;
        long now = System.currentTimeMillis() * 1_000_000;
        for (Map.Entry<CapturedInterface, Numbered> entry : numbers.entrySet()) {
            Numbered its = entry.getValue();
            long dropped = entry.getKey().takeDropped();
            append(PcapngBlocks.statistics(its.number, now, opened, its.received, dropped, isPart));
        }
        flush();
        channel = null;
        ending.close();
    }

    /** Adds interfaces whose packets were all dropped, and one for a file that has no other, so that it has an end. */
    private void describeDropped() throws IOException {
        for (CapturedInterface at : interfaces.get()) {
            if (at.hasDropped() && !numbers.containsKey(at)) {
                append(at.block());
                number(at);
            }
        }
        if ((unknown.hasDropped() || numbers.isEmpty()) && !numbers.containsKey(unknown)) {
            append(unknown.block());
            number(unknown);
        }
    }

    /** Closes the file without its statistics, because it cannot be written. */
    void abandon() {
        FileChannel ending = channel;
        channel = null;
        if (ending != null) {
            try {
                ending.close();
            } catch (IOException e) {
                logger.debug("The capture {} cannot be closed either", path, e);
            }
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
