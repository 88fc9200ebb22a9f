package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoundFileTest {

    @TempDir
    private Path directory;

    @Test
    void isDeleted() throws IOException {
        Path path = Files.createFile(directory.resolve("socket"));

        BoundFile.at(path).delete();

        assertThat(path).doesNotExist();
    }

    /** File systems give the key of a deleted file to the next. Here, it is the same file with another time. */
    @Test
    void isNotDeletedIfALaterFileHasItsKey() throws IOException {
        Path path = Files.createFile(directory.resolve("socket"));
        BoundFile bound = BoundFile.at(path);
        Files.setLastModifiedTime(
                path, FileTime.fromMillis(Files.getLastModifiedTime(path).toMillis() + 10));

        bound.delete();

        assertThat(path).exists();
    }
}
