package dev.zmtp.shm;

import dev.zmtp.internal.runtime.IdleThread;
import java.util.concurrent.Executor;

/** Thread that creates and removes files for all servers, because filling a file with zeros takes long. */
final class FileThread {

    static final Executor SHARED = IdleThread.executor("zmtp-shm-files");

    private FileThread() {}
}
