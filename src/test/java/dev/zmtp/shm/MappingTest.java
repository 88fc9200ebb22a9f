package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappingTest {
    private static final String IMAGE = "org.graalvm.nativeimage.imagecode";
    private static final int SIZE = 8192;

    @TempDir
    Path directory;

    private Path path;

    @BeforeEach
    void writeFile() throws IOException {
        path = directory.resolve("mapped");
        Files.write(path, new byte[SIZE]);
    }

    private Mapping map() throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return Mapping.of(file, SIZE);
        }
    }

    private long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(path.toString())).count();
        }
    }

    @Test
    void whatIsWrittenIsInTheFile() throws IOException {
        try (Mapping mapping = map()) {
            assertThat(mapping.memory().capacity()).isEqualTo(SIZE);
            assertThat(mapping.memory().order()).isEqualTo(ByteOrder.nativeOrder());
            mapping.memory().put(SIZE - 1, (byte) 7);
            assertThat(Files.readAllBytes(path)[SIZE - 1]).isEqualTo((byte) 7);
        }
    }

    @Test
    void whatIsClosedIsUnmapped() throws IOException {
        Mapping mapping = map();
        assertThat(mappings()).isEqualTo(1);
        mapping.close();
        assertThat(mappings()).isZero();
    }

    @Test
    void aNativeImageMapsWithoutAnArena() throws IOException {
        System.setProperty(IMAGE, "runtime");
        try (Mapping mapping = map()) {
            assertThat(mapping.memory().put(0, (byte) 1).get(0)).isEqualTo((byte) 1);
        } finally {
            System.clearProperty(IMAGE);
        }
    }

    @Test
    void whatCannotBeMappedLeavesNothing() throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            assertThatThrownBy(() -> Mapping.of(file, SIZE))
                    .satisfiesAnyOf(
                            e -> assertThat(e).isInstanceOf(NonWritableChannelException.class),
                            e -> assertThat(e).hasCauseInstanceOf(NonWritableChannelException.class));
        }
        assertThat(mappings()).isZero();
    }
}
