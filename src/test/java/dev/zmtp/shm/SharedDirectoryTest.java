package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of files, and who removes them if their server cannot. */
class SharedDirectoryTest {

    private static final int CAPACITY = 4096;
    private static final String ZEROS = "netty-zmtp-00000000000000000000000000000000";

    @TempDir
    Path directory;

    private SharedFile create(String... names) throws IOException {
        Queue<String> next = new ArrayDeque<>(List.of(names));
        return new SharedDirectory(directory, next::remove).create(Invitation.RINGS, CAPACITY);
    }

    private Path old(String name) throws IOException {
        Path file = Files.createFile(
                directory.resolve(name),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return makeOld(file);
    }

    private static Path makeOld(Path file) throws IOException {
        return Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(90)));
    }

    private void removeStale() {
        new SharedDirectory(directory, SharedDirectory::newName).removeStale();
    }

    @Test
    void aNameCannotBeForeseen() {
        assertThat(SharedDirectory.newName())
                .matches("netty-zmtp-[0-9a-f]{32}")
                .isNotEqualTo(SharedDirectory.newName());
    }

    @Test
    void namesThatExistArePassedOver() throws IOException {
        Files.writeString(directory.resolve("first"), "somebody's");
        Files.writeString(directory.resolve("second"), "somebody's");
        SharedFile created = create("first", "second", "third");
        assertThat(created.path()).isEqualTo(directory.resolve("third"));
        assertThat(directory.resolve("second")).hasContent("somebody's");
        created.discard();
        assertThat(created.path()).doesNotExist();
    }

    @Test
    void whoeverTakesAllNamesIsNamed() throws IOException {
        Files.createFile(directory.resolve("taken"));
        assertThatThrownBy(() -> create("taken", "taken", "taken", "taken", "other"))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: " + directory.resolve("taken") + " and 3 other names are in use");
    }

    @Test
    void whatCannotBeCreatedIsNamedWithItsSize() {
        Path nowhere = directory.resolve("nowhere");
        SharedDirectory files = new SharedDirectory(nowhere, () -> "file");
        assertThatThrownBy(() -> files.create(Invitation.RINGS, CAPACITY))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: 9344 bytes in " + nowhere + ": java.nio.file.NoSuchFileException: "
                        + nowhere.resolve("file"));
    }

    @Test
    void anOldFileThatNobodyHoldsIsRemoved() throws IOException {
        Path old = old(ZEROS);
        removeStale();
        assertThat(old).doesNotExist();
    }

    @Test
    void aFreshFileStays() throws IOException {
        Path fresh = old(ZEROS);
        Files.setLastModifiedTime(fresh, FileTime.from(Instant.now().minusSeconds(30)));
        removeStale();
        assertThat(fresh).exists();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "netty-zmtp-my-pipe",
                "netty-zmtp-0123456789abcdef0123456789abcdef0",
                "netty-zmtp-0123456789abcdef0123456789abcde",
                "netty-zmtp-0123456789ABCDEF0123456789ABCDEF"
            })
    void aFileWithANameOfAnotherFormStays(String name) throws IOException {
        Path other = old(name);
        removeStale();
        assertThat(other).exists();
    }

    @Test
    void aFileThatOthersMayUseStays() throws IOException {
        Path other = old(ZEROS);
        Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rw-rw-rw-"));
        removeStale();
        assertThat(other).exists();
    }

    @Test
    void aFileThatIsHeldStaysHoweverOldItIs() throws IOException {
        SharedFile held = create(ZEROS);
        makeOld(held.path());
        removeStale();
        assertThat(held.path()).exists();
        held.release();
        removeStale();
        assertThat(held.path()).doesNotExist();
        held.close();
    }

    @Test
    void aFileThatCannotBeRemovedDoesNotKeepTheOthers() throws IOException {
        for (int i = 0; i < 8; i++) {
            old(SharedDirectory.newName());
        }
        Path held = old(ZEROS);
        try (FileChannel file = FileChannel.open(held, StandardOpenOption.WRITE);
                FileLock lock = file.lock()) {
            removeStale();
            assertThat(lock.isValid()).isTrue();
        }
        assertThat(directory).isDirectoryNotContaining(file -> !file.equals(held));
        assertThat(held).exists();
    }
}
