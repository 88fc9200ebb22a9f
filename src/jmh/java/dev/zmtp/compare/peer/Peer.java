package dev.zmtp.compare.peer;

/** A library to compare. */
interface Peer {
    /**
     * Starts what the arguments of {@code run} say, on threads of its own, and returns. What fails later is told to
     * {@link Run#fail}.
     *
     * @throws UnsupportedException if this peer cannot do it
     * @throws UsageException if an argument is none for this peer
     */
    void start(Run run) throws Exception;
}
