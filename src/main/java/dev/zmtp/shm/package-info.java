/**
 * Shared memory between two JVMs of one machine: a transport of Netty, and the pair of a writer and a reader below it.
 *
 * <p>{@link dev.zmtp.shm.SharedMemoryChannel} and {@link dev.zmtp.shm.SharedMemoryServerChannel} stand where a program
 * names the classes of its channels; what is in the pipeline does not notice. The two sides meet over a Unix domain
 * socket, whose path is the address. Bytes go through one ring for each direction, in a file that both have mapped.
 * The socket stays open: it wakes a side that sleeps, and its end is the other side's.
 *
 * <p>Nothing here knows ZMTP.
 */
@NullMarked
package dev.zmtp.shm;

import org.jspecify.annotations.NullMarked;
