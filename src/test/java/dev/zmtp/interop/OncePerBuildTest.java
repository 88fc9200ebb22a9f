package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OncePerBuildTest {

    @TempDir
    Path directory;

    private final List<String> done = new ArrayList<>();

    private OncePerBuild of(String build) {
        return new OncePerBuild(directory.resolve("lock"), build);
    }

    @Test
    void aTaskRunsOnceInABuildAndAgainInTheNext() throws IOException {
        of("1234").run(() -> done.add("first"));
        of("1234").run(() -> done.add("again"));
        of("567").run(() -> done.add("next build"));
        of("567").run(() -> done.add("again"));
        assertThat(done).containsExactly("first", "next build");
    }

    @Test
    void aTaskThatFailedIsNotTriedAgain() throws IOException {
        assertThatThrownBy(() -> of("1234").run(() -> {
                    throw new IllegalStateException("no network");
                }))
                .hasMessage("no network");
        of("1234").run(() -> done.add("again"));
        assertThat(done).isEmpty();
    }

    /** In one JVM, a second lock is an exception; between JVMs it waits. */
    @Test
    void theLockIsHeldWhileTheTaskRuns() throws IOException {
        of("1234")
                .run(() -> assertThatThrownBy(() -> of("1234").run(() -> done.add("at the same time")))
                        .isInstanceOf(OverlappingFileLockException.class));
        assertThat(done).isEmpty();
    }
}
