package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPTopicMatcher;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.internal.socket.send.Recipients;
import dev.zmtp.internal.socket.send.Routing;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Sends to all peers that have subscribed to a prefix of the first frame (RFC 29), or that have joined the group in the
 * first frame (RFC 48). A message is encoded once for all of them.
 */
public final class FanOut extends Routing {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.FanOut");

    /**
     * End mark of a group. Groups are compared whole, so each gets an end that cannot be part of its name, and is then
     * a prefix only of itself.
     */
    private static final byte GROUP_END = 0;

    /** Minimum number of peers for which messages are gathered. */
    private static final int MANY = 16;

    /** Maximum length of a message that is copied, in bytes. */
    private static final int MAX_COPY = 16 << 10;

    /** The effect of a request of a peer on its topics. */
    private enum Change {
        MADE,
        /** The peer already has the topic, or has not had it. */
        NONE,
        /** The peer has too many topics, and has none any more. */
        REFUSED
    }

    private final SocketContext context;
    private final Subscribers subscribers;
    private final ZMTPTopicMatcher<Peer> topics;
    private final TopicShares shares = new TopicShares();
    private final Recipients recipients = new Recipients();
    private final Gathering gathering;
    private final Predicate<Peer> noted;
    private final RateLimitedLog failures;

    public FanOut(SocketContext context, Subscribers subscribers) {
        this.context = context;
        this.subscribers = subscribers;
        this.topics = new ZMTPTopicMatcher<>(Integer.MAX_VALUE, context.config().maxSubscriptionsMemory());
        this.gathering = new Gathering(context);
        this.noted = gathering::note;
        this.failures = context.warnings(logger);
        subscribers.removal(topics::removeSome);
        if (context.type() != ZMTPSocketType.RADIO) {
            subscribers.topicsOf(topics::forEachTopic);
        }
    }

    @Override
    public Fate route(ZMTPMessage accepted, @Nullable CompletableFuture<Void> result) {
        recipients.finish();
        ZMTPMessage message = accepted;
        int first = recipients.size(); // not 0 if the listener of a write sends
        try {
            findOrRelease(message);
            recipients.begin(message, first); // first, because what is gathered can be sent now, and lead to sends
            boolean gathers = recipients.left() >= MANY && gathering.hasRoomFor(message);
            if (recipients.left() > 0) { // otherwise such a send has finished this one
                if (waits() && !allCanTake(first)) {
                    return Fate.REFUSED; // for all peers, so that no peer gets it twice
                }
                message = prepared(message, first);
                recipients.begin(message, first);
                sendToAll(message, gathers);
            }
        } finally {
            recipients.remove(first);
        }
        message.release(); // throws if its sender has also released it, and the sender is notified
        context.completions().succeed(result);
        return Fate.PASSED;
    }

    /** Returns the message in the form for its peers. Takes ownership of the message. */
    private ZMTPMessage prepared(ZMTPMessage message, int first) {
        ZMTPMessage compact = message;
        if (MessageMemory.isWasteful(message) && mayWait(first)) {
            compact = MessageMemory.compact(message); // once for all peers for which it waits
        }
        boolean isEncodedOnce = recipients.left() > 1 && message.size() > 1; // to encode a single frame is as fast
        return isEncodedOnce ? encodedOnce(compact) : compact;
    }

    /**
     * Returns a message whose peers share its encoded bytes, unless it is long. It is a copy if somebody keeps the
     * given message, who can change it when nobody else has it, and send it again. Takes ownership of the message.
     */
    private static ZMTPMessage encodedOnce(ZMTPMessage message) {
        if (message.refCnt() == 1 || message.isEncodedOnce()) {
            return message.encodeOnce();
        }
        if (message.readableBytes() > MAX_COPY) { // its long frames are sent by reference
            return message;
        }
        ZMTPMessage copy;
        try {
            copy = message.copy();
        } catch (IllegalReferenceCountException | OutOfMemoryError e) { // a frame was released, for example
            return message;
        }
        message.release();
        return copy.encodeOnce();
    }

    /** Notes the message for the peers that gather their messages, and sends it to the others. */
    private void sendToAll(ZMTPMessage message, boolean gathers) {
        if (gathers) {
            gathering.add(message);
            recipients.removeIf(noted); // before the sends, because a send can cause another, which ends the gathering
        }
        recipients.send();
    }

    @Override
    public void finish() {
        recipients.finish();
    }

    @Override
    public void sendAlone(ZMTPMessage message, Peer peer) {
        recipients.finish();
        int first = recipients.size();
        boolean matches = false;
        try {
            find(message);
            for (int i = first; i < recipients.size(); i++) {
                matches |= recipients.get(i).equals(peer);
            }
        } finally {
            recipients.remove(first);
        }
        if (matches) {
            peer.outbound().sendNoted();
            peer.outbound().sendAccepted(message.retain(), null);
        }
    }

    /** Releases the message if there is no memory for its group, because nobody else has it yet. */
    private void findOrRelease(ZMTPMessage message) {
        try {
            find(message);
        } catch (Throwable e) {
            if (message.refCnt() > 0) { // otherwise its sender has released it
                message.release();
            }
            throw e;
        }
    }

    private void find(ZMTPMessage message) {
        if (message.size() == 0) {
            return;
        }
        ByteBuf topic = message.frame(0);
        if (context.type() == ZMTPSocketType.RADIO) {
            ByteBuf whole = whole(topic);
            try {
                topics.match(whole, this::matches);
            } finally {
                whole.release();
            }
        } else {
            topics.match(topic, this::matches);
        }
    }

    /** Returns the group with its end mark, to be released by the caller. */
    private ByteBuf whole(ByteBuf group) {
        return context.allocator()
                .buffer(group.readableBytes() + 1)
                .writeBytes(group, group.readerIndex(), group.readableBytes())
                .writeByte(GROUP_END);
    }

    private void matches(Peer peer) {
        if (peer.isUp() && !peer.isLeaving()) { // otherwise it has gone, or only gets queued messages
            recipients.add(peer);
        }
    }

    @Override
    public boolean waits() {
        return context.config().overflowPolicy() == OverflowPolicy.WAIT;
    }

    @Override
    public boolean sendsWait() {
        return true;
    }

    private boolean allCanTake(int first) {
        for (int i = first; i < recipients.size(); i++) {
            Peer peer = recipients.get(i);
            if (!peer.outbound().canTake()) {
                peer.outbound().missed();
                return false;
            }
        }
        return true;
    }

    private boolean mayWait(int first) {
        for (int i = first; i < recipients.size(); i++) {
            if (recipients.get(i).outbound().wouldQueue()) {
                return true;
            }
        }
        return false;
    }

    /** Sends all peers their noted messages, which otherwise wait for the end of the task. */
    public void sendGathered() {
        gathering.sendAll();
    }

    @Override
    public void leaving(Peer peer) {
        peer.outbound().sendNoted();
    }

    @Override
    public void left(Peer peer) {
        peer.outbound().sendNoted();
    }

    @Override
    public void down(Peer peer) {
        peer.outbound().sendNoted(); // into its queue
        forget(peer);
    }

    /** Removes all topics of a peer, and notifies the listeners, both in several tasks if there are many. */
    private void forget(Peer peer) {
        subscribers.left(peer);
        shares.removeAll(peer);
    }

    /** Called with a subscription or a cancellation of a subscriber. */
    public void subscription(Peer peer, ZMTPSubscription subscription) {
        ByteBuf topic = subscription.topic();
        if (subscription.isSubscribe() && !isAllowed(peer, topic)) {
            return;
        }
        Change change = subscription.isSubscribe() ? add(topic, peer) : remove(topic, peer);
        if (change == Change.REFUSED) {
            return; // the end of the topic would not be reported
        }
        boolean changed = change == Change.MADE;
        if (!changed && !subscription.isSubscribe() && context.config().subscriptionFilter() != null) {
            return; // the topic might have been refused, which was not reported either
        }
        subscribers.requested(peer, subscription, changed, topics.subscriberCount(topic));
        if (changed && !subscription.isSubscribe()) {
            context.capacityFreed(); // messages might have waited only for this peer
        }
    }

    private boolean isAllowed(Peer peer, ByteBuf topic) {
        BiPredicate<? super ZMTPPeer, ? super ByteBuf> filter = context.config().subscriptionFilter();
        try {
            return filter == null || filter.test(peer, topic.duplicate());
        } catch (Throwable e) { // from the application
            failures.log(
                    "The filter of subscriptions", "failed, " + PeerInfo.text(topic.nioBuffer()) + " is refused", e);
            return false;
        }
    }

    /** Called when a DISH joins or leaves a group. */
    public void membership(Peer peer, ZMTPMembership membership) {
        if (membership.isJoin() && !isAllowed(peer, membership.group())) {
            return;
        }
        ByteBuf whole = whole(membership.group());
        boolean changed;
        try {
            Change change = membership.isJoin() ? add(whole, peer) : remove(whole, peer);
            changed = change == Change.MADE;
        } finally {
            whole.release();
        }
        if (changed) {
            subscribers.joined(peer, membership.isJoin());
            if (!membership.isJoin()) {
                context.capacityFreed(); // see above
            }
        }
    }

    /** Adds a topic, unless the peer is refused because it has too many. */
    private Change add(ByteBuf topic, Peer peer) {
        while (true) {
            try {
                boolean isNew = topics.add(topic, peer);
                if (isNew) {
                    shares.add(peer, topic.readableBytes());
                }
                return isNew ? Change.MADE : Change.NONE;
            } catch (ZMTPException e) {
                if (subscribers.forgetSome()) { // topics of peers that have left
                    continue;
                }
                Peer pays = shares.greaterThan(peer, topic.readableBytes());
                refuse(pays == null ? peer : pays, e);
                if (pays == null) {
                    return Change.REFUSED;
                }
            }
        }
    }

    /**
     * Forgets the topics of a peer that has many, because all topics together are too many, and disconnects the peer,
     * because it would miss messages. A newcomer with few topics must not be refused for the topics of others.
     */
    private void refuse(Peer peer, ZMTPException cause) {
        TopicShares.Share its = shares.of(peer);
        PeerHandler link = peer.link();
        if (link != null) {
            String reason = cause.getMessage() + ", of which this peer has " + its.topics() + " topics, " + its.length()
                    + " bytes";
            context.execute(() -> link.refuse(reason)); // not now, in the middle of a command
        }
        forget(peer); // last, because there might be no memory for the cancellations
    }

    private Change remove(ByteBuf topic, Peer peer) {
        boolean was = topics.remove(topic, peer);
        if (was) {
            shares.remove(peer, topic.readableBytes());
        }
        return was ? Change.MADE : Change.NONE;
    }
}
