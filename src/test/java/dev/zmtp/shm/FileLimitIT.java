package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that cannot have all of its memory, as the operating system allows this process none so large. */
@Tag("linux")
class FileLimitIT {

    private static final String NAME = "netty-zmtp-00000000000000000000000000000000";

    /** Of the file, in blocks of 512 bytes. */
    private static final int LIMIT = (1 << 20) / 512;

    @TempDir
    Path directory;

    /** Creates a file that is too large in a directory, and then one that somebody has left under the same name. */
    public static final class Server {
        private Server() {}

        public static void main(String... args) throws IOException {
            Path file = Path.of(args[0], NAME);
            SharedDirectory directory = new SharedDirectory(Path.of(args[0]), () -> NAME);
            try {
                directory.create(Invitation.RINGS, 1 << 20).discard();
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
            System.out.println(Files.exists(file));
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofMinutes(2))));
            directory.removeStale();
            System.out.println(Files.exists(file));
        }
    }

    @Test
    void aFileThatCannotBeFilledIsRemovedWithItsReasonAndHeldNoMore() throws Exception {
        List<String> server = JavaProcess.command(List.of(), Server.class, directory.toString());
        try (JavaProcess process = new JavaProcess(JavaProcess.limited("-f " + LIMIT, server))) {
            assertThat(process.rest())
                    .containsExactly(
                            "shared memory: 2098304 bytes in " + directory + ": java.io.IOException: File too large",
                            "false",
                            "false");
        }
    }
}
