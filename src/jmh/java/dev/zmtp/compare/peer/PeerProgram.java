package dev.zmtp.compare.peer;

/** A library to compare. */
interface PeerProgram {
    /**
     * Starts what the arguments of {@code run} say, on threads of its own, and returns. What fails later is reported to
     * {@link Program#fail}.
     *
     * @throws UnsupportedException if this peer cannot do it
     * @throws UsageException if an argument is not valid for this peer
     */
    void start(Program program) throws Exception;
}
