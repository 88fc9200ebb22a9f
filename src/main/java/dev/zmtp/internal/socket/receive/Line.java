package dev.zmtp.internal.socket.receive;

import dev.zmtp.internal.socket.peer.Peer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The peers whose messages wait, in the order of their turns. Those that the sink wants nothing of for now stand aside,
 * so that they are not asked again for each message of another one. Guarded by the lock of the {@code Inbox}.
 */
final class Line {

    private final Deque<Peer> inTurn = new ArrayDeque<>(0);
    private final Set<Peer> aside = new LinkedHashSet<>(0);

    /** Changed under the lock, read without it. */
    private volatile boolean empty = true;

    private volatile boolean complete = true;

    /** Whether no peer has a turn. From any thread. */
    boolean isEmpty() {
        return empty;
    }

    /** Whether any peer has a turn or stands aside. From any thread. */
    boolean mayHaveNext() {
        return !empty || !complete;
    }

    /** Adds a peer whose first message has come. It gets no turn if it stands aside. */
    void add(Peer peer) {
        if (!peer.inbound().aside) {
            inTurn.add(peer);
            empty = false;
        }
    }

    /** As {@link #add}, and it is the next one. */
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

    /** Removes the next peer of which the sink takes a message; null if there is none. */
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

    /** Gives a peer that stands aside turns again. */
    void back(Peer peer) {
        if (aside.remove(peer)) {
            peer.inbound().aside = false;
            complete = aside.isEmpty();
            if (!peer.inbound().messages.isEmpty()) {
                add(peer);
            }
        }
    }

    /** Gives all peers that stand aside turns again. */
    void allBack() {
        for (Peer peer : List.copyOf(aside)) {
            back(peer);
        }
    }

    /** Removes a peer that has no messages. */
    void remove(Peer peer) {
        back(peer);
        inTurn.removeIf(each -> each == peer);
        empty = inTurn.isEmpty();
    }
}
