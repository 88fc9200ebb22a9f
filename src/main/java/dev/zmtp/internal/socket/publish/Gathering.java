package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Noted;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.SendQueue;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one task of the event loop that go to many peers. What a message needs of each peer and its
 * connection would be read into the processor's cache again and again. So a peer only remembers which of these messages
 * are its own, and at the end of the task, or when there are many, it is sent all of them in a row.
 *
 * <p>Only a peer takes part in whose queue all of them have room, so none is refused or dropped later, unless memory
 * becomes short meanwhile.
 */
public final class Gathering implements Runnable, Noted.Keeper {

    /** One for each bit of a peer. */
    static final int MAX_MESSAGES = Long.SIZE;

    /** In all of them. */
    static final int MAX_BYTES = 64 << 10;

    private final SocketContext context;
    private final @Nullable ZMTPMessage[] messages = new ZMTPMessage[MAX_MESSAGES];
    private final List<Peer> peers = new ArrayList<>();
    private int count;
    private long bytes;
    private boolean scheduled;
    private boolean sending;

    Gathering(SocketContext context) {
        this.context = context;
    }

    /** Returns whether the message can be added, which may need those before it to be sent first. */
    boolean hasRoomFor(ZMTPMessage message) {
        long more = message.readableBytes();
        if (sending || more > MAX_BYTES || context.isClosed()) {
            return false;
        }
        if (count == MAX_MESSAGES || bytes + more > MAX_BYTES) {
            sendAll();
        }
        scheduled = scheduled || context.tryExecute(this);
        return scheduled;
    }

    /** Adds a message, and returns the number by which peers know it. The message is retained. */
    int add(ZMTPMessage message) {
        messages[count] = message.retain();
        bytes += message.readableBytes();
        return count++;
    }

    /** Notes that the message with this number is for the peer. Returns false if the peer does not take part. */
    boolean note(Peer peer, int number) {
        if (peer.outbound().noted().isEmpty()) {
            if (!hasRoomForAll(peer.queue())) {
                return false;
            }
            peers.add(peer);
        }
        peer.outbound().noted().add(this, number);
        return true;
    }

    private static boolean hasRoomForAll(SendQueue queue) {
        return queue.hasRoom() && queue.messagesLeft() >= MAX_MESSAGES && queue.bytesLeft() >= MAX_BYTES;
    }

    /** Sends the peer what was noted for it, in order. If one of the writes leads to another send, that comes after. */
    @Override
    public void send(Peer peer) {
        boolean nested = sending;
        sending = true;
        try {
            Noted noted = peer.outbound().noted();
            while (!noted.isEmpty()) {
                peer.outbound()
                        .sendGathered(
                                Objects.requireNonNull(messages[noted.next()]).retain());
            }
        } finally {
            sending = nested;
        }
        peer.roomCame();
    }

    /** The end of the task. */
    @Override
    public void run() {
        scheduled = false;
        sendAll();
    }

    /** Some are there only if the send to one of the peers has failed. */
    private static void forgetNoted(Peer peer) {
        if (!peer.outbound().noted().isEmpty()) {
            peer.outbound().noted().clear();
            peer.roomCame();
        }
    }

    /** Sends everything. */
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
