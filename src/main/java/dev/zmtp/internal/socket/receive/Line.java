package dev.zmtp.internal.socket.receive;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.peer.Peer;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The peers with waiting messages, in the order of their turns. Peers whose messages the sink declines for now are set
 * aside, so that the sink is not asked about them again for each message of another peer. Guarded by the lock of the
 * {@code Inbox}.
 */
final class Line {

    private final Deque<Peer> inTurn = new ConsistentDeque<>();
    private final Set<Peer> aside = new LinkedHashSet<>(0);

    /** Changed under the lock, read without it. */
    private volatile boolean empty = true;

    private volatile boolean complete = true;

    /** Returns whether no peer has a turn. From any thread. */
    boolean isEmpty() {
        return empty;
    }

    /** Returns whether any peer has a turn or is set aside. From any thread. */
    boolean mayHaveNext() {
        return !empty || !complete;
    }

    /** Adds a peer whose first message has arrived. It gets no turn if it is set aside. */
    void add(Peer peer) {
        if (!peer.inbound().aside) {
            inTurn.add(peer);
            empty = false;
        }
    }

    /** Like {@link #add}, as the next peer. */
    void addFirst(Peer peer) {
        if (!peer.inbound().aside) {
            inTurn.addFirst(peer);
            empty = false;
        }
    }

    @Nullable
    Peer poll() {
        Peer peer = inTurn.poll();
        empty = inTurn.isEmpty();
        return peer;
    }

    /** Removes and returns the next peer from which the sink accepts a message; null if there is none. */
    @Nullable
    Peer next(Sink to) {
        while (true) {
            Peer next = poll();
            if (next == null) {
                Peer recalled = complete ? null : to.recall();
                if (recalled == null) {
                    return null;
                }
                back(recalled);
            } else if (to.wants(next)) {
                return next;
            } else {
                setAside(next);
                to.declined(next);
            }
        }
    }

    private void setAside(Peer peer) {
        peer.inbound().aside = true;
        aside.add(peer);
        complete = false;
    }

    /** Gives turns again to a peer that was set aside. */
    void back(Peer peer) {
        if (aside.remove(peer)) {
            peer.inbound().aside = false;
            complete = aside.isEmpty();
            if (!peer.inbound().messages.isEmpty()) {
                add(peer);
            }
        }
    }

    /** Gives turns again to all peers that were set aside. */
    void allBack() {
        for (Peer peer : List.copyOf(aside)) {
            back(peer);
        }
    }

    /** Removes a peer without messages. */
    void remove(Peer peer) {
        back(peer);
        inTurn.removeIf(each -> each == peer);
        empty = inTurn.isEmpty();
    }
}
