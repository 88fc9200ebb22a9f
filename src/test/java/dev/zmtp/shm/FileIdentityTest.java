package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose file may be mapped. */
class FileIdentityTest {

    private static final Path FILE = Path.of("/dev/shm/file");
    private static final int USER = 1002;

    @TempDir
    Path directory;

    private static FileIdentity identity(int uid, String mode) {
        return new FileIdentity("key", uid, Integer.parseInt(mode, 8));
    }

    @ParameterizedTest
    @ValueSource(ints = {USER, 0})
    void aFileOfTheUserOrOfRootMayBeMapped(int uid) {
        assertThatCode(() -> identity(uid, "100600").check(FILE, USER)).doesNotThrowAnyException();
    }

    /** Of another user, open to others, not open to the owner, a link, a directory. */
    @ParameterizedTest
    @CsvSource({"1001, 100600", "1002, 100660", "1002, 100602", "1002, 100400", "1002, 120600", "1002, 40600"})
    void noOtherFileMayBe(int uid, String mode) {
        assertThatThrownBy(() -> identity(uid, mode).check(FILE, USER))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: /dev/shm/file: owner " + uid + ", mode " + mode
                        + " (expected: owner 1002 or 0, mode 100600)");
    }

    @Test
    void theUserOfAProcessOwnsWhatItCreates() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThat(FileIdentity.ownUid()).isEqualTo(Files.getAttribute(file, "unix:uid"));
    }

    @Test
    void aFileThatTakesThePlaceOfAnotherIsFound() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        FileIdentity first = FileIdentity.of(file);
        first.checkStill(file);
        Path next = Files.createFile(directory.resolve("next"));
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> first.checkStill(file))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: " + file + " was replaced by another file");
    }
}
