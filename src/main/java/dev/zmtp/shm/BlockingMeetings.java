package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Clients of a {@link SharedMemoryServerSocket} until both sides have mapped the file. */
final class BlockingMeetings implements Closeable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(BlockingMeetings.class);

    /** Maximum number of concurrent meetings. Other clients wait in the kernel until a place is free. */
    static final int MOST = 64;

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    /** Time after which a client that has not answered makes room for another. */
    private static final long PATIENCE_IF_FULL = TimeUnit.SECONDS.toNanos(2);

    private static final int LOOK_MILLIS = 1_000;

    private final LongSupplier nanoTime;
    private final ServerSocketChannel server;
    private final SharedDirectory directory;
    private final int capacity;
    private final Selector selector;
    private final SelectionKey accepts;
    private final RefusalLog refusals = new RefusalLog();
    private final Set<Guest> guests = ConcurrentHashMap.newKeySet();

    /** Clients that have answered. Used by the accepting thread. */
    private final List<Guest> answered = new ArrayList<>(1);

    private final Queue<SharedMemorySocket> met = new ConcurrentLinkedQueue<>();

    /** Creates the meetings with {@code nanoTime} as the clock, which is {@link System#nanoTime} except in tests. */
    BlockingMeetings(ServerSocketChannel server, SharedDirectory directory, int capacity, LongSupplier nanoTime)
            throws IOException {
        this.nanoTime = nanoTime;
        this.server = server;
        this.directory = directory;
        this.capacity = capacity;
        server.configureBlocking(false);
        selector = Selector.open();
        try {
            accepts = server.register(selector, SelectionKey.OP_ACCEPT);
        } catch (Throwable e) {
            selector.close();
            throw e;
        }
    }

    /** Returns the next client whose meeting is complete. Must be called by one thread at a time. */
    SharedMemorySocket next() throws IOException {
        while (server.isOpen()) {
            SharedMemorySocket first = met.poll();
            if (first != null) {
                return first;
            }
            try {
                accepts.interestOps(mayAccept() ? SelectionKey.OP_ACCEPT : 0);
                selector.select(guests.isEmpty() ? 0 : LOOK_MILLIS);
            } catch (CancelledKeyException e) {
                break; // it was closed meanwhile
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new ClosedByInterruptException();
            }
            if (server.isOpen()) {
                look();
            }
        }
        throw new ClosedChannelException();
    }

    /** Ends the wait of the accepting thread. Can be called from any thread. */
    void wakeUp() {
        selector.wakeup();
    }

    private boolean mayAccept() {
        return guests.size() < MOST || nanoTime.getAsLong() - longest().since > PATIENCE_IF_FULL;
    }

    private Guest longest() {
        long now = nanoTime.getAsLong();
        return Collections.max(guests, Comparator.comparingLong(guest -> now - guest.since));
    }

    private void look() throws IOException {
        try {
            for (SelectionKey key : selector.selectedKeys()) {
                if (key != accepts) {
                    ((Guest) key.attachment()).hear();
                }
            }
            if (selector.selectedKeys().contains(accepts)
                    && mayAccept()) { // last, because one that has answered leaves its place
                accept();
            }
        } finally { // a client that cannot be accepted does not concern those that have answered
            selector.selectedKeys().clear();
            long now = nanoTime.getAsLong();
            guests.forEach(guest -> guest.giveUpIfLate(now));
            meetAnswered();
        }
    }

    private void meetAnswered() throws IOException {
        if (!answered.isEmpty()) {
            selector.selectNow(); // they leave this selector, as each is to have one of its own
            answered.forEach(this::meet);
            answered.clear();
        }
    }

    private void meet(Guest guest) {
        try {
            RingPair rings = RingPair.of(guest.file, true); // first, because a failure would leave the bell open
            met.add(new SharedMemorySocket(new BlockingBell(guest.socket), rings));
        } catch (Throwable e) { // such as for want of descriptors; the others are served
            logger.warn("shared memory: a client is not accepted", e);
            guest.drop();
        }
    }

    private void accept() throws IOException {
        SocketChannel socket = server.accept();
        if (socket == null) {
            return;
        }
        SharedFile file = null;
        try {
            file = invite(socket);
            if (file == null) {
                socket.close();
            } else {
                socket.configureBlocking(false);
                if (guests.size() >= MOST) {
                    longest().end();
                }
                guests.add(new Guest(socket, file));
            }
        } catch (Throwable e) {
            socket.close();
            if (file != null) {
                file.discard();
            }
            throw e;
        }
    }

    /** Returns the file to which the client was invited, or null if there is none, which was reported to the client. */
    private @Nullable SharedFile invite(SocketChannel socket) {
        ByteBuf text = Unpooled.buffer();
        SharedFile file = null;
        try {
            file = directory.create(Invitation.RINGS, capacity);
            new Invitation(file.path(), capacity).write(text);
        } catch (Throwable e) { // the client is to hear of errors, too
            refusals.log(server, e);
            Invitation.writeRefusal(text, e);
        }
        try {
            socket.write(text.nioBuffer()); // a socket that is new has room for it
            return file;
        } catch (IOException e) {
            logger.debug("shared memory: a client has gone", e);
            if (file != null) {
                file.discard();
            }
            return null;
        }
    }

    /** Ends all connections that were not accepted. Called when no thread accepts any more. */
    @Override
    public void close() throws IOException {
        selector.close();
        guests.forEach(Guest::end);
        answered.forEach(Guest::drop);
        answered.clear();
        for (SharedMemorySocket last = met.poll(); last != null; last = met.poll()) {
            last.close();
        }
    }

    /** Invited client. */
    private final class Guest {
        private final SocketChannel socket;
        private final SharedFile file;
        private final long since = nanoTime.getAsLong();
        private final ByteBuffer answer = ByteBuffer.allocate(Invitation.ANSWER);
        private final SelectionKey key;

        Guest(SocketChannel socket, SharedFile file) throws IOException {
            this.socket = socket;
            this.file = file;
            this.key = socket.register(selector, SelectionKey.OP_READ);
            key.attach(this);
        }

        void hear() {
            try {
                int read = socket.read(answer);
                if (read < 0) {
                    end();
                } else if (read > 0
                        && Invitation.readAnswer(Unpooled.wrappedBuffer(answer.array(), 0, answer.position()), file)) {
                    file.removeName(); // if the client has not
                    guests.remove(this);
                    key.cancel();
                    answered.add(this);
                }
            } catch (IOException e) {
                logger.debug("shared memory: a client is not accepted", e);
                end();
            }
        }

        void giveUpIfLate(long now) {
            if (now - since > PATIENCE) {
                end();
            }
        }

        void end() {
            if (guests.remove(this)) {
                drop();
            }
        }

        void drop() {
            try {
                socket.close();
            } catch (IOException e) {
                logger.debug("shared memory: not closed", e);
            } finally {
                file.discard();
            }
        }
    }
}
