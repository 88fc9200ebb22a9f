package dev.zmtp.shm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that use the rings of a {@link SharedMemorySocket}. At any time, a single thread reads and a single thread
 * writes. The memory is unmapped once the socket is closed and both threads have left.
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

    /** Returns the lock held by the thread that uses the reader. */
    ReentrantLock reading() {
        return reading;
    }

    /** Returns the lock held by the thread that uses the writer. */
    ReentrantLock writing() {
        return writing;
    }

    /** Releases the thread's lock. After the end of the socket, the last thread unmaps the memory. */
    void leave(ReentrantLock held) {
        held.unlock();
        if (!bell.isOpen()) {
            releaseIfOver();
        }
    }

    /**
     * Unmaps the memory if the socket is closed and no thread uses it. Otherwise the thread that uses it will unmap it.
     */
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
