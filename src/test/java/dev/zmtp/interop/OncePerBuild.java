package dev.zmtp.interop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Does something once for all test JVMs of a build, which run at the same time. Those that come later wait until it is
 * done, and do not do it again, whether it went well or not.
 */
final class OncePerBuild {

    private static final int MAX_NAME = 64;

    private final Path file;
    private final String build;

    /** Keeps in {@code file}, which is also the lock, for which {@code build} it was done last. */
    OncePerBuild(Path file, String build) {
        this.file = file;
        this.build = build;
    }

    /** For the JVMs that the same process has started: {@code name} says what is done. */
    static OncePerBuild named(String name) {
        long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(-1L);
        return new OncePerBuild(Path.of(System.getProperty("java.io.tmpdir"), name + ".lock"), String.valueOf(parent));
    }

    /** Runs {@code task}, or waits until another JVM has run it. */
    void run(Runnable task) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.lock(); // until the channel is closed
            ByteBuffer last = ByteBuffer.allocate(MAX_NAME);
            channel.read(last, 0);
            if (build.equals(StandardCharsets.UTF_8.decode(last.flip()).toString())) {
                return;
            }
            channel.truncate(0);
            channel.write(StandardCharsets.UTF_8.encode(build), 0); // first: a task that fails is not tried again
            task.run();
        }
    }
}
