package dev.zmtp.shm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The threads that use the rings of a {@link SharedMemorySocket}: one thread at a time reads, and one writes. The
 * memory is given back once the socket is closed and neither is left in it.
 */
final class RingUse {

    private final BlockingBell bell;
    private final RingPair rings;
    private final ReentrantLock reading = new ReentrantLock();
    private final ReentrantLock writing = new ReentrantLock();
    private boolean released;

    RingUse(BlockingBell bell, RingPair rings) {
        this.bell = bell;
        this.rings = rings;
    }

    /** Held by the thread that uses the reader. */
    ReentrantLock reading() {
        return reading;
    }

    /** Held by the thread that uses the writer. */
    ReentrantLock writing() {
        return writing;
    }

    /** Unlocks what the thread holds. After the end of the socket, the last one gives the memory back. */
    void leave(ReentrantLock held) {
        held.unlock();
        if (!bell.isOpen()) {
            releaseIfOver();
        }
    }

    /** Gives the memory back if the socket is closed and no thread uses it; otherwise the one that does will. */
    synchronized void releaseIfOver() {
        if (released || reading.isHeldByCurrentThread() || writing.isHeldByCurrentThread() || !reading.tryLock()) {
            return;
        }
        try {
            if (writing.tryLock()) {
                try {
                    released = true;
                    rings.close();
                } finally {
                    writing.unlock();
                }
            }
        } finally {
            reading.unlock();
        }
    }
}
