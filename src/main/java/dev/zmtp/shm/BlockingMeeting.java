package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Connects on a thread that may block, like {@link Meeting} does for a client on an event loop. */
final class BlockingMeeting {

    /** Delay between attempts when a server has no room for another unaccepted connection. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final BlockingBell bell;

    /** Timeout in nanoseconds, 0 for none. */
    private final long timeout;

    private final long end;

    private BlockingMeeting(BlockingBell bell, long timeout, long end) {
        this.bell = bell;
        this.timeout = timeout;
        this.end = end;
    }

    static SharedMemorySocket connect(SharedMemoryAddress server, Duration timeout) throws IOException {
        long nanos = BlockingBell.nanos(timeout);
        long end = System.nanoTime() + nanos;
        BlockingBell bell = new BlockingBell(open(server, nanos, end));
        try {
            return new BlockingMeeting(bell, nanos, end).meet();
        } catch (Throwable e) {
            bell.close();
            throw e;
        }
    }

    private static SocketChannel open(SharedMemoryAddress server, long timeout, long end) throws IOException {
        while (true) {
            SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                socket.configureBlocking(false);
                if (socket.connect(UnixDomainSocketAddress.of(server.path()))) {
                    return socket;
                }
            } catch (Throwable e) {
                socket.close();
                throw e;
            }
            socket.close();
            if (timeout != 0 && end - System.nanoTime() <= 0) {
                throw new SocketTimeoutException("shared memory: not accepted at " + server.path() + " within "
                        + TimeUnit.NANOSECONDS.toMillis(timeout) + " ms");
            }
            LockSupport.parkNanos(RETRY_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new ClosedByInterruptException();
            }
        }
    }

    private SharedMemorySocket meet() throws IOException {
        ByteBuf fixed = receive(Invitation.FIXED);
        ByteBuf path = receive(Invitation.length(fixed) - Invitation.FIXED);
        RingPair rings = Invitation.read(Unpooled.wrappedBuffer(fixed, path)).accept();
        try {
            bell.send(ByteBuffer.wrap(Invitation.answer(rings.file())));
            return new SharedMemorySocket(bell, rings);
        } catch (Throwable e) {
            rings.close();
            throw e;
        }
    }

    private ByteBuf receive(int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        bell.receive(bytes, timeout, end);
        return Unpooled.wrappedBuffer(bytes.flip());
    }
}
