package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.PendingFlushes;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Noted;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.SendQueue;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a task of the event loop that are sent to many peers. The data of each peer and its connection would
 * be loaded into the processor's cache again for every message. Therefore a peer only notes which of these messages it
 * should get, and at the end of the task, or when there are many, it is sent all of them in a row.
 * <p>A peer takes part only if its queue has room for all of them, so that none is refused or dropped later, unless
 * memory becomes short in the meantime.
 */
public final class Gathering implements Runnable, Noted.Keeper {

    /** Maximum number of messages, which is the number of bits of a peer. */
    static final int MAX_MESSAGES = Long.SIZE;

    /** Maximum total length of the messages. */
    static final int MAX_BYTES = 64 << 10;

    /** Number of writes after which they are made, so that the task can end when there have been many. */
    private static final int MAX_WRITES = PendingFlushes.MAX_WRITES / 2;

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Gathering");

    private final SocketContext context;
    private final RateLimitedLog failures;
    private final @Nullable ZMTPMessage[] messages = new ZMTPMessage[MAX_MESSAGES];
    private final List<Peer> peers = new ArrayList<>();
    private int count;
    private long bytes;
    private boolean scheduled;
    private boolean sending;

    /** True if messages were added since the last run. */
    private boolean added;

    Gathering(SocketContext context) {
        this.context = context;
        this.failures = context.warnings(logger);
    }

    /** Returns whether the message can be added, for which earlier messages might have to be sent first. */
    boolean hasRoomFor(ZMTPMessage message) {
        long more = message.readableBytes();
        if (sending || more > MAX_BYTES || context.isClosed()) {
            return false;
        }
        if (count == MAX_MESSAGES || bytes + more > MAX_BYTES || count * (long) peers.size() >= MAX_WRITES) {
            sendAll();
        }
        scheduled = scheduled || context.tryExecute(this);
        return scheduled;
    }

    /** Adds a message, which is retained. */
    void add(ZMTPMessage message) {
        messages[count] = message.retain();
        added = true;
        bytes += message.readableBytes();
        count++;
    }

    /** Notes that the last added message is for the peer. Returns false if the peer does not take part. */
    boolean note(Peer peer) {
        if (peer.outbound().noted().isEmpty()) {
            if (!hasRoomForAll(peer.queue())) {
                return false;
            }
            peers.add(peer);
        }
        peer.outbound().noted().add(this, count - 1);
        return true;
    }

    private static boolean hasRoomForAll(SendQueue queue) {
        return queue.hasRoom() && queue.messagesLeft() >= MAX_MESSAGES && queue.bytesLeft() >= MAX_BYTES;
    }

    /** Sends the peer its noted messages, in order. If a write causes another send, that message comes later. */
    @Override
    public void send(Peer peer) {
        boolean nested = sending;
        sending = true;
        try {
            Noted noted = peer.outbound().noted();
            while (!noted.isEmpty()) {
                sendTo(peer, Objects.requireNonNull(messages[noted.next()]));
            }
        } finally {
            sending = nested;
        }
        peer.roomCame();
    }

    private void sendTo(Peer peer, ZMTPMessage message) {
        try {
            peer.outbound().sendGathered(message.retain());
        } catch (Throwable e) { // such as that its sender has also released it, which does not concern other messages
            context.tally().dropped();
            failures.log(peer, "was not sent a message", e);
        }
    }

    /** Runs at the end of the task. */
    @Override
    public void run() {
        scheduled = false;
        boolean some = added;
        added = false;
        try {
            sendAll();
        } finally {
            if (some) { // a message might have waited for them; a refused message has scheduled this, too
                context.capacityFreed();
            }
        }
    }

    /** Clears notes that remain only if the send to a peer has failed. */
    private static void forgetNoted(Peer peer) {
        if (!peer.outbound().noted().isEmpty()) {
            peer.outbound().noted().clear();
            peer.roomCame();
        }
    }

    /** Sends all messages. */
    void sendAll() {
        if (sending) {
            return;
        }
        sending = true;
        try {
            for (Peer peer : peers) {
                send(peer);
            }
        } finally {
            peers.forEach(Gathering::forgetNoted);
            peers.clear();
            for (int i = 0; i < count; i++) {
                ReferenceCountUtil.safeRelease(messages[i]);
                messages[i] = null;
            }
            count = 0;
            bytes = 0;
            sending = false;
        }
    }
}
