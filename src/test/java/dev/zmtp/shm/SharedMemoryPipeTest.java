package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A ring in a file, between two that have mapped it. */
class SharedMemoryPipeTest {

    private static final int CAPACITY = 4096;

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void chooseFile() {
        file = directory.resolve("pipe");
    }

    @Test
    void whatOneMappingWritesTheOtherReads() throws IOException {
        SharedMemoryPipe ours = SharedMemoryPipe.create(file, CAPACITY);
        SharedMemoryPipe theirs = SharedMemoryPipe.open(file, CAPACITY);
        ours.unlink();
        assertThat(file).doesNotExist();
        ours.writer().write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        ours.writer().flush();
        ByteBuffer target = ByteBuffer.allocate(10);
        assertThat(theirs.reader().read(target)).isEqualTo(3);
        assertThat(target.array()).startsWith(1, 2, 3);
    }

    @Test
    void onlyTheOwnerMayOpenTheFile() throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    @Test
    void allMemoryOfTheFileIsThereFromTheStart() throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        assertThat((Long) Files.getAttribute(file, "unix:size")).isEqualTo(128 + 512 + CAPACITY);
        byte[] bytes = Files.readAllBytes(file);
        assertThat(Arrays.copyOfRange(bytes, 128, bytes.length)).containsOnly(0);
    }

    @Test
    void aFileThatIsThereIsNotReplaced() throws IOException {
        Files.writeString(file, "somebody's");
        assertThatThrownBy(() -> SharedMemoryPipe.create(file, CAPACITY))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasContent("somebody's");
    }

    @Test
    void aFileOfAnotherSizeIsNotOpened() throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        assertThatThrownBy(() -> SharedMemoryPipe.open(file, 2 * CAPACITY))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: " + file + " of 4736 bytes (expected: 8832)");
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertThatThrownBy(() -> SharedMemoryPipe.open(link, CAPACITY)).isInstanceOf(IOException.class);
    }

    private void assertRefused(String expected) {
        assertThatThrownBy(() -> SharedMemoryPipe.open(file, CAPACITY))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("shared memory: " + expected);
    }

    @Test
    void aFileThatIsNotThereIsNotOpened() {
        assertRefused(file + " does not exist");
    }

    @Test
    void aFileThatOthersMayOpenIsNotOpened() throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertRefused(file + ": owner " + FileIdentity.ownUid() + ", mode 100666 (expected: owner "
                + FileIdentity.ownUid() + " or 0, mode 100600)");
    }

    /** Four bytes of the header, and what is said if they are others. */
    @ParameterizedTest
    @CsvSource({
        "0, file: 7 (expected: 5a53484d)",
        "4, version of the file: 7 (expected: 2)",
        "8, rings: 7 (expected: 1)",
        "12, capacity: 7 (expected: 4096)"
    })
    void aFileWithAnotherHeaderIsNotOpened(int index, String expected) throws IOException {
        SharedMemoryPipe.create(file, CAPACITY);
        ByteBuffer seven = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(0, 7);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(seven, index);
        }
        assertRefused(expected);
    }

    @Test
    void aPipeThatWasWrittenToIsNotOpened() throws IOException {
        SharedMemoryWriter writer = SharedMemoryPipe.create(file, CAPACITY).writer();
        writer.write(ByteBuffer.allocate(3));
        writer.flush();
        assertRefused("a ring written up to 3 and read up to 0 (expected: one that is new)");
    }

    /**
     * The reader and the writer sleep whenever they may, on a semaphore each: if one of them slept although the other
     * has done something, both would sleep for ever.
     */
    @Test
    void neitherSideSleepsForEver() throws Exception {
        SharedMemoryPipe ours = SharedMemoryPipe.create(file, CAPACITY);
        SharedMemoryPipe theirs = SharedMemoryPipe.open(file, CAPACITY);
        Semaphore readerBell = new Semaphore(0);
        Semaphore writerBell = new Semaphore(0);
        int total = 20_000_000;
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<Integer> written = threads.submit(writing(ours.writer(), total, readerBell, writerBell));
            Future<Integer> read = threads.submit(reading(theirs.reader(), total, readerBell, writerBell));
            assertThat(written.get(60, TimeUnit.SECONDS)).isPositive();
            assertThat(read.get(60, TimeUnit.SECONDS)).isPositive();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Writes the bytes 0, 1, 2 and so on; returns how often it slept. */
    private static Callable<Integer> writing(
            SharedMemoryWriter writer, int total, Semaphore readerBell, Semaphore writerBell) {
        return () -> {
            ByteBuffer source = ByteBuffer.allocate(1000);
            int sleeps = 0;
            for (int at = 0; at < total; ) {
                source.clear().limit(1 + at % 1000);
                for (int i = 0; i < source.limit(); i++) {
                    source.put(i, (byte) (at + i));
                }
                at += writer.write(source);
                if (writer.flush()) {
                    readerBell.release();
                }
                if (source.hasRemaining() && writer.beforeSleep()) {
                    sleeps++;
                    writerBell.acquire();
                }
            }
            return sleeps;
        };
    }

    /** Checks these bytes; returns how often it slept. */
    private static Callable<Integer> reading(
            SharedMemoryReader reader, int total, Semaphore readerBell, Semaphore writerBell) {
        return () -> {
            ByteBuffer target = ByteBuffer.allocate(777);
            int sleeps = 0;
            for (int at = 0; at < total; ) {
                target.clear();
                int length = reader.read(target);
                for (int i = 0; i < length; i++) {
                    if (target.get(i) != (byte) (at + i)) {
                        throw new AssertionError("byte " + (at + i) + ": " + target.get(i));
                    }
                }
                at += length;
                if (reader.release()) {
                    writerBell.release();
                }
                if (at < total && length == 0 && reader.beforeSleep()) {
                    sleeps++;
                    readerBell.acquire();
                }
            }
            return sleeps;
        };
    }

    @Test
    void aPipeThatIsClosedKeepsNoMemoryAndCannotBeUsed() throws IOException {
        SharedMemoryPipe pipe = SharedMemoryPipe.create(file, CAPACITY);
        assertThat(isMapped()).isTrue();
        pipe.close();
        pipe.close();
        assertThat(isMapped()).isFalse();
        assertThatThrownBy(() -> pipe.writer().write(ByteBuffer.wrap(new byte[1])))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pipe.reader().available()).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private boolean isMapped() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains(file.toString());
    }
}
