/**
 * Shared memory between two JVMs of the same machine, with a Netty transport and its underlying pair of a writer and a
 * reader.
 *
 * <p>{@link dev.zmtp.shm.SharedMemoryChannel} and {@link dev.zmtp.shm.SharedMemoryServerChannel} replace a program's
 * channel classes, without changes to the pipeline. The two sides meet over a Unix domain socket, whose path is the
 * address. Bytes pass through a ring for each direction, in a file that both sides have mapped. The socket remains open
 * to wake a sleeping side, and its end is the end of the other side.
 *
 * <p>This package does not depend on ZMTP.
 */
@NullMarked
package dev.zmtp.shm;

import org.jspecify.annotations.NullMarked;
