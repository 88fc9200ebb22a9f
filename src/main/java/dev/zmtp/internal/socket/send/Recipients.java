package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Outbound;
import dev.zmtp.internal.socket.peer.Peer;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The peers of messages that are sent to several peers. The listener of a write can send another message before all
 * peers have the first. That message is {@linkplain #finish finished} first, so that all peers get both in this order.
 * On the event loop.
 */
public final class Recipients {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Recipients");

    /** The peers of the messages that are being sent, one message after the other. */
    private final List<Peer> peers = new ArrayList<>();

    /** Message that the peers from {@code next} to {@code end} do not have yet; null if there is none. */
    private @Nullable ZMTPMessage unfinished;

    private int next;
    private int end;

    /** Returns the position of the first peer that is added for another message. */
    public int size() {
        return peers.size();
    }

    public void add(Peer peer) {
        peers.add(peer);
    }

    public Peer get(int position) {
        return peers.get(position);
    }

    /** Begins to send the message to the peers from this position on. The caller releases it afterwards. */
    public void begin(ZMTPMessage message, int first) {
        unfinished = message;
        next = first;
        end = peers.size();
    }

    /** Returns the number of peers that do not have the message yet. */
    public int left() {
        return end - next;
    }

    /** Removes the peers that the filter accepts, because they get the message in another way. */
    public void removeIf(Predicate<Peer> filter) {
        int others = next;
        for (int i = next; i < end; i++) {
            Peer peer = peers.get(i);
            if (!filter.test(peer)) {
                peers.set(others++, peer);
            }
        }
        end = others;
    }

    /** Sends the message to the peers that do not have it yet. */
    @SuppressWarnings("ReferenceEquality") // checks for this very message
    public void send() {
        ZMTPMessage message = unfinished;
        while (message != null && next < end) {
            int position = next;
            Outbound outbound = peers.get(position).outbound();
            outbound.sendNoted(); // first, because this can send the message to more peers, this peer included
            if (message == unfinished && position == next) {
                next++;
                message.retain();
                if (outbound.send(message, null) == Fate.REFUSED) { // filled by a listener in this loop
                    outbound.sendAccepted(message, null);
                }
            }
        }
    }

    /** Sends the message, if any, to the peers that do not have it yet, before another message is sent. */
    public void finish() {
        try {
            send();
        } catch (Throwable e) { // such as that a frame was released, which does not concern the other message
            next = end;
            logger.warn("A message was not sent to all of its peers", e);
        }
    }

    /** Removes the peers from this position on, whose message was sent or has failed. */
    public void remove(int first) {
        peers.subList(first, peers.size()).clear();
        unfinished = null;
        next = 0;
        end = 0;
    }
}
