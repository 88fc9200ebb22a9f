package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends to the peer whose routing id is the first frame, and removes that frame. Routing ids are a ROUTER's identities
 * (RFC 28), or those of SERVER and PEER, which are generated here (RFC 41, 51).
 */
public final class ByName extends Routing {

    /** First byte of generated names (RFC 37). Peers can announce such identities, although RFC 28 forbids it. */
    private static final byte MADE = 0;

    /**
     * A name in the table. It is comparable, so that the table keeps names whose hash codes a peer has made equal in a
     * tree, and not in a list.
     */
    private record Name(ByteBuffer bytes) implements Comparable<Name> {
        @Override
        public int compareTo(Name other) {
            return bytes.compareTo(other.bytes);
        }
    }

    private final SocketContext context;
    private final Map<Name, Peer> peers = new ConcurrentHashMap<>();
    private int lastId;
    private Consumer<Peer> beforeRename = peer -> {};
    private Consumer<Peer> whenNameIsLost = peer -> {};

    public ByName(SocketContext context) {
        this.context = context;
        this.lastId = (int) context.random();
    }

    private boolean isRouter() {
        return context.type() == ZMTPSocketType.ROUTER;
    }

    @Override
    public Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (message.size() < 2) {
            String frames = "frames: " + message.size();
            ReferenceCountUtil.safeRelease(message);
            unroutable(result, frames + " (expected: the routing id of a peer, and the message)");
            return Fate.DROPPED;
        }
        Peer peer = find(message.frame(0));
        if (peer == null) {
            String name = PeerInfo.text(message.frame(0).nioBuffer());
            ReferenceCountUtil.safeRelease(message);
            unroutable(result, "no peer has the routing id " + name);
            return Fate.DROPPED;
        }
        return sendTo(peer, message, result);
    }

    private void unroutable(@Nullable CompletableFuture<Void> result, String why) {
        context.tally().dropped();
        if (result == null) {
            context.drops().dropped(null, DropReason.NO_PEER, 1);
        }
        context.completions().fail(result, ZMTPSocketException.Reason.UNROUTABLE, why);
    }

    /** @param occupant the {@link Peer#occupant()} that had the name by which the peer was found */
    record Named(Peer peer, int occupant) {}

    /** Returns the peer with the name, and its number; null if there is none. From any thread. */
    @Nullable
    Named occupant(ByteBuf name) {
        Peer peer = find(name);
        while (peer != null) {
            int occupant = peer.occupant();
            Peer still = find(name); // a peer that gets another name loses this one before its number changes
            if (still == peer) {
                return new Named(peer, occupant);
            }
            peer = still;
        }
        return null;
    }

    /**
     * Returns the peer whose room decides whether the message is accepted; null if the message need not wait. From any
     * thread.
     */
    @Nullable
    Named addressee(ZMTPMessage message) {
        boolean waits = context.config().overflowPolicy() == OverflowPolicy.WAIT && message.size() > 1;
        return waits ? occupant(message.frame(0)) : null;
    }

    private Fate sendTo(Peer peer, ZMTPMessage named, @Nullable CompletableFuture<Void> result) {
        if (context.config().overflowPolicy() != OverflowPolicy.WAIT) {
            return peer.outbound().send(named.removeFirst(1), result);
        }
        if (!peer.outbound().canTake()) {
            peer.outbound().missed();
            return Fate.REFUSED; // with its name
        }
        return peer.outbound().sendTakeable(named.removeFirst(1), result);
    }

    /** Returns whether messages for its name are sent to the peer. From any thread. */
    boolean isNamed(Peer peer) {
        return peer.equals(peers.get(nameOf(peer)));
    }

    private @Nullable Peer find(ByteBuf name) {
        return named(name.nioBuffer());
    }

    /** Returns the peer with the name; null if there is none. From any thread. */
    @Nullable
    public Peer named(ByteBuffer name) {
        return peers.get(new Name(name));
    }

    @Override
    @Nullable
    public PeerHandler inTheWay(Peer peer) {
        Peer owner =
                context.config().routingIdConflictPolicy() == RoutingIdConflictPolicy.REFUSE ? otherOwner(peer) : null;
        return owner == null ? null : owner.link();
    }

    /** Returns whether another peer ends when this peer comes up, so that the number of peers does not grow. */
    public boolean takesOver(Peer peer) {
        return context.config().routingIdConflictPolicy() == RoutingIdConflictPolicy.TAKE_OVER
                && otherOwner(peer) != null;
    }

    /** Returns the other peer with the same identity; null if there is none. */
    private @Nullable Peer otherOwner(Peer peer) {
        Peer owner = isRouter() ? named(peer.identity()) : null;
        return owner == peer ? null : owner;
    }

    @Override
    @Nullable
    public String up(Peer peer) {
        if (peer.isLeaving()) { // it only gets queued messages
            if (isAnother(peer)) {
                return "another peer is at the endpoint";
            }
            if (peer.nameBytes().length == 0) { // for the messages that it sends
                peer.name(bytes(nameFor(peer)), !isIdentity(peer));
            }
            return null;
        }
        ByteBuffer name = nameFor(peer);
        Peer owner = named(name);
        if (owner != null && owner != peer) {
            String refusal = takeOver(owner);
            if (refusal != null) {
                return refusal;
            }
        }
        Name before = nameOf(peer);
        peers.remove(before, peer); // it might have had another name
        if (before.bytes.hasRemaining() && !before.bytes.equals(name)) {
            beforeRename.accept(peer); // now, when it has no name
        }
        peer.name(bytes(name), !isIdentity(peer));
        peers.put(nameOf(peer), peer);
        return null;
    }

    private ByteBuffer nameFor(Peer peer) {
        if (isIdentity(peer)) {
            return ByteBuffer.wrap(bytes(peer.identity()));
        }
        boolean keepsName = !peer.isRequester() && peer.hasGeneratedName();
        return keepsName ? peer.routingId() : newName(); // a message for the earlier name finds no peer
    }

    /** Returns whether the name of the peer is the identity that it has announced. */
    private boolean isIdentity(Peer peer) {
        return isRouter() && peer.identity().hasRemaining();
    }

    /** Sets what is called before a peer gets another name than at its last connection. */
    public void beforeRename(Consumer<Peer> action) {
        beforeRename = action;
    }

    /**
     * Sets what is called when a peer that is connected to, and that might be away, has lost its name to the peer that
     * is about to come up.
     */
    public void whenNameIsLost(Consumer<Peer> action) {
        whenNameIsLost = action;
    }

    private @Nullable String takeOver(Peer owner) {
        PeerHandler link = owner.link();
        boolean isThere = link != null && link.channel().isActive();
        if (context.config().routingIdConflictPolicy() == RoutingIdConflictPolicy.REFUSE && isThere) {
            return "identity: " + PeerInfo.text(owner.routingId()) + " is taken by another peer";
        }
        peers.remove(nameOf(owner), owner);
        if (owner.home() != null) { // otherwise it leaves for good
            whenNameIsLost.accept(owner);
        }
        if (link != null && isThere) { // otherwise it has ended for another reason
            link.refuse("another peer has taken over its identity");
        }
        return null;
    }

    private static Name nameOf(Peer peer) {
        return new Name(ByteBuffer.wrap(peer.nameBytes()));
    }

    /** Returns whether the peer has another identity than at its last connection. */
    private boolean isAnother(Peer peer) {
        if (!isRouter() || peer.nameBytes().length == 0) {
            return false;
        }
        return peer.hasGeneratedName()
                ? peer.identity().hasRemaining()
                : !peer.identity().equals(peer.routingId());
    }

    private ByteBuffer newName() {
        ByteBuffer name;
        do {
            name = nextName();
        } while (named(name) != null);
        return name;
    }

    private ByteBuffer nextName() {
        int id = ++lastId == 0 ? ++lastId : lastId;
        return isRouter()
                ? ByteBuffer.allocate(9)
                        .put(MADE)
                        .putInt((int) context.random())
                        .putInt(id)
                        .flip()
                : ByteBuffer.allocate(4).putInt(id).flip();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void down(Peer peer) {
        if (!peer.mayBeQueuedFor()) {
            peers.remove(nameOf(peer), peer);
        }
    }

    @Override
    public void leaving(Peer peer) {
        left(peer);
    }

    @Override
    public void left(Peer peer) {
        peers.remove(nameOf(peer), peer);
    }
}
