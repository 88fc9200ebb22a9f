package dev.zmtp.internal.socket.publish;

import dev.zmtp.internal.socket.context.Magnitudes;
import dev.zmtp.internal.socket.peer.Peer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The share of each peer in the topics of a publisher. Peers with the greatest shares are refused if there are too
 * many.
 */
final class TopicShares {

    /** Bytes that a topic counts besides its own, as in the codec's {@code maxSubscriptionsLength}. */
    static final int PER_TOPIC = 256;

    /** Number of topics of a peer, and the bytes that they count. */
    record Share(int topics, long length) {

        static final Share NONE = new Share(0, 0);

        private Share plus(int bytes) {
            return new Share(topics + 1, length + bytes + PER_TOPIC);
        }

        private Share minus(int bytes) {
            return new Share(topics - 1, length - bytes - PER_TOPIC);
        }
    }

    private final Map<Peer, Share> shares = new HashMap<>();
    private final Magnitudes<Peer> magnitudes = new Magnitudes<>();

    Share of(Peer peer) {
        return shares.getOrDefault(peer, Share.NONE);
    }

    /** Counts a topic of this length that the peer has added. */
    void add(Peer peer, int bytes) {
        set(peer, of(peer).plus(bytes));
    }

    /** Counts a topic of this length that the peer has removed. */
    void remove(Peer peer, int bytes) {
        set(peer, of(peer).minus(bytes));
    }

    /** Forgets all topics of a peer. */
    void removeAll(Peer peer) {
        set(peer, Share.NONE);
    }

    private void set(Peer peer, Share now) {
        Share before = now.topics == 0 ? shares.remove(peer) : shares.put(peer, now);
        if (before != null && now.topics > 0 && Magnitudes.of(before.length) == Magnitudes.of(now.length)) {
            return;
        }
        if (before != null) {
            magnitudes.remove(peer, before.length);
        }
        if (now.topics > 0) {
            magnitudes.add(peer, now.length);
        }
    }

    /**
     * Returns a peer with about the greatest share, which is greater than that of {@code asker} with another topic of
     * this length; null if the asker's share is itself about the greatest.
     */
    @Nullable
    Peer greaterThan(Peer asker, int bytes) {
        Peer greatest = magnitudes.greatest();
        long asked = of(asker).plus(bytes).length;
        return greatest == null || Magnitudes.of(of(greatest).length) <= Magnitudes.of(asked) ? null : greatest;
    }
}
