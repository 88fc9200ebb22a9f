package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.RECEIVED;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.runtime.WrittenMessages;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One connection: the last handler of its pipeline, between the codec and the socket. */
public final class PeerHandler extends ChannelInboundHandlerAdapter {

    /** The socket that a connection belongs to, which it reports to. */
    public interface Owner {
        /** Returns a new peer, of this home if the socket connects to it. */
        Peer newPeer(@Nullable PeerHome home);

        /** A connection is being made. */
        void began(PeerHandler link);

        /** Returns the connection that has the name of this peer and may be about to end; null if there is none. */
        @Nullable
        PeerHandler inTheWay(Peer peer, PeerInfo info);

        /** Returns why the peer may not join; null if it may. */
        @Nullable
        String mayJoin(Peer peer, PeerInfo info);

        void up(PeerHandler link, Peer peer);

        void received(Peer from, ZMTPMessage message);

        void readComplete();

        void subscription(Peer from, ZMTPSubscription subscription);

        void membership(Peer from, ZMTPMembership membership);

        void becameWritable(Peer peer);

        void down(PeerHandler link, Peer peer, Throwable cause);

        void handshakeFailed(PeerHandler link, Throwable cause);

        /** The last call. */
        void ended(PeerHandler link);
    }

    /** The binding or connector that a connection comes from. */
    public interface Origin {
        /** Returns the text of the endpoint that was bound or connected to. */
        String endpoint();

        /** Returns what has accepted the connection; null if it was made here. */
        @Nullable
        ZMTPEndpoint listener();

        /** Returns the peer that the connection belongs to; null for a new one. */
        @Nullable
        Peer peer();

        /** The handshake has succeeded, and the socket is about to accept the peer. */
        void up();

        /** The connection has ended, or the attempt has failed. The last call, made once. */
        void ended(PeerHandler link, Throwable cause);
    }

    /** One that the socket has left is over for it, while the peer may still read. */
    private enum Stage {
        IN_USE,
        LEFT,
        ENDED
    }

    private final SocketContext context;
    private final Owner owner;
    private final Origin origin;
    /** Null, as the next one is, until the connection has a pipeline, to which it may never come. */
    private ChannelHandlerContext ctx;

    private PeerWrites writes;
    private Object peerKey = "nowhere";
    private @Nullable Pings pings;
    private @Nullable ZMTPVersion version;
    private @Nullable Peer peer;
    /** Null unless this side ends a connection that messages were written to. */
    private @Nullable Farewell farewell;

    /** The peer of that connection. */
    private @Nullable Peer left;

    private @Nullable Newcomer newcomer;
    private @Nullable Throwable cause;
    private boolean wasActive;
    private boolean closedHere;
    private Stage stage = Stage.IN_USE;
    private long upSince;
    private final NameQueue nameQueue = new NameQueue();

    public PeerHandler(SocketContext context, Owner owner, Origin origin) {
        this.context = context;
        this.owner = owner;
        this.origin = origin;
    }

    /** Sets the key by which {@link Pings} knows the peer. Called before the handler is added. */
    public PeerHandler at(Object peerKey, Pings pings) {
        this.peerKey = peerKey;
        this.pings = pings;
        return this;
    }

    public String endpoint() {
        return origin.endpoint();
    }

    @Nullable
    ZMTPEndpoint listener() {
        return origin.listener();
    }

    public boolean wasAccepted() {
        return origin.listener() != null;
    }

    public Channel channel() {
        return ctx.channel();
    }

    /** When the handshake succeeded; 0 if it has not. */
    public long upSince() {
        return upSince;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        writes = new PeerWrites(context, ctx, endpoint());
        owner.began(this);
    }

    // Out

    boolean isWritable() {
        return cause == null && writes.isOpen();
    }

    void write(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        writes.write(message, result);
    }

    /** Adds a subscription or a membership to what is written before all messages. */
    public void addCommand(Object command) {
        writes.addCommand(command);
    }

    /** Writes the commands that were added. User code may be called. */
    public void writeCommands() {
        writes.writeCommands();
    }

    public long commandsWritten() {
        return writes == null ? 0 : writes.commandsWritten();
    }

    /** Whether the fate of each message is known that was written here. */
    public boolean isIdle() {
        return writes == null || writes.isIdle();
    }

    void reading(boolean on) {
        if (farewell == null) { // which reads
            ctx.channel().config().setAutoRead(on);
        }
    }

    /** Ends the connection after what was sent to it until now. */
    void disconnect() {
        if (peer != null) {
            peer.outbound().sendNoted();
        }
        close(Farewell.PATIENCE);
    }

    /**
     * Ends the connection after what was written to it. May be called again with another time.
     *
     * @param patience the nanoseconds that the peer has to read that; if there are none, the connection ends at once
     */
    public void close(long patience) {
        closedHere = true;
        if (ctx != null) {
            leave(patience);
        }
    }

    private void leave(long patience) {
        if (patience <= 0 || (farewell == null && !hasWrittenMessages())) {
            ctx.close();
        } else if (farewell != null) {
            farewell.within(patience);
        } else {
            farewell = new Farewell(context, ctx);
            left = peer;
            peer = null; // what it sends from now on is dropped
            if (cause == null) {
                cause = new ClosedChannelException(); // and nothing more is written
            }
            farewell.within(patience);
            context.execute(this::leaveSocket); // not now: the socket may be in the middle of something
            farewell.begin();
        }
    }

    /** Whether there is anything that the peer may not have read. What else was sent needs no reader. */
    private boolean hasWrittenMessages() {
        return peer != null && ctx.channel().isActive() && writes.haveBegun();
    }

    /** Whether there is a connection, or one is being made. */
    public boolean isOpen() {
        return ctx != null && stage != Stage.ENDED;
    }

    /** The event loop has ended before the connection did. */
    public void lost() {
        nameQueue.clear(); // they are lost, too
        if (stage != Stage.ENDED) {
            ended();
        }
    }

    /** Ends the connection for a failure. */
    void fail(Throwable failure) {
        if (cause == null) {
            cause = failure;
        }
        ctx.close();
    }

    /** Refuses the peer. The connection ends, and the events of this side report the reason. */
    public void refuse(String reason) {
        refuse(reason, Farewell.PATIENCE);
    }

    /** As {@link #refuse(String)}, with the nanoseconds that the peer has to read; none if it does not. */
    void refuse(String reason, long patience) {
        cause = new ZMTPSocketException(ZMTPSocketException.Reason.STATE, reason);
        leave(patience);
    }

    /** The newcomers that wait for the name of this one's peer. */
    NameQueue nameQueue() {
        return nameQueue;
    }

    // In

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        wasActive = true;
        ctx.fireChannelActive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (farewell != null && event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        }
        if (event instanceof ZMTPHandshakeSuccess success) {
            up(PeerInfo.of(success));
        } else if (event instanceof PeerInfo info) {
            up(info);
        } else if (event instanceof ZMTPHandshakeFailure failure) {
            if (cause == null) {
                cause = failure.cause();
            }
            if (!wasAccepted()) {
                return; // the connector logs it once: the codec would log what no handler takes, each time
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    private void up(PeerInfo info) {
        long now = context.nanoTime();
        upSince = now == 0 ? 1 : now;
        version = info.version();
        Peer known = origin.peer();
        Peer its = known == null ? owner.newPeer(null) : known;
        PeerHandler holder = owner.inTheWay(its, info);
        if (holder == null || holder.nameQueue.isFull()) {
            join(its, info);
        } else {
            reading(false);
            newcomer = new Newcomer(this, holder, () -> decided(its, info));
            newcomer.await(context);
        }
    }

    private boolean decided(Peer its, PeerInfo info) {
        Newcomer decided = Objects.requireNonNull(newcomer);
        join(its, info);
        for (Object next = decided.poll(); next != null; next = decided.poll()) {
            deliver(next);
        }
        newcomer = null; // last: what is read in the meantime comes after what was deferred
        return stage == Stage.IN_USE;
    }

    private void join(Peer its, PeerInfo info) {
        String refusal = owner.mayJoin(its, info);
        if (refusal != null) {
            refuse(refusal);
            return;
        }
        peer = its;
        writes.to(its, (WrittenMessages) (info.session() == null ? ctx.channel() : info.session()));
        origin.up();
        owner.up(this, its);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object received) {
        if (newcomer != null) {
            newcomer.defer(received);
        } else {
            deliver(received);
        }
    }

    private void deliver(Object received) {
        Peer from = peer;
        if (from == null) {
            ReferenceCountUtil.release(received); // the peer was refused, and its connection is being closed
        } else if (received instanceof ZMTPMessage message) {
            from.counters().add(RECEIVED, 1);
            owner.received(from, message);
        } else if (received instanceof ZMTPSubscription subscription) {
            owner.subscription(from, subscription);
        } else if (received instanceof ZMTPMembership membership) {
            owner.membership(from, membership);
        } else {
            ReferenceCountUtil.release(received);
        }
    }

    /** Flushes the answers to what was read: those of thousands of peers would otherwise wait for each other. */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        writes.flush();
        owner.readComplete();
        ctx.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable() && farewell == null) {
            writes.writeCommands();
            Peer to = peer;
            if (to != null) {
                to.outbound().drain();
                owner.becameWritable(to);
            }
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable e) {
        if (farewell == null) { // otherwise what is still written fails, and the transport closes if it does not work
            fail(e);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end();
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        end(); // for a channel that was never active
    }

    private void end() {
        if (stage != Stage.ENDED && !ctx.channel().isOpen()) {
            ended();
        }
    }

    private void ended() {
        Stage before = stage;
        stage = Stage.ENDED;
        long lost = writes == null ? 0 : writes.end();
        if (before == Stage.IN_USE) {
            report();
        }
        if (lost > 0) {
            writes.forget(lost);
        }
        if (farewell != null) {
            farewell.end();
        }
        owner.ended(this);
        nameQueue.decide(); // last
    }

    private void leaveSocket() {
        if (stage == Stage.IN_USE) {
            stage = Stage.LEFT;
            report();
            nameQueue.decide();
        }
    }

    private void report() {
        if (newcomer != null) {
            newcomer.forget();
            newcomer = null;
        }
        Throwable why = Objects.requireNonNullElseGet(cause, ClosedChannelException::new);
        Peer was = left == null ? peer : left;
        if (version != null && pings != null && !closedHere && (cause == null || cause instanceof IOException)) {
            pings.hungUp(peerKey, version, context.nanoTime() - upSince);
        }
        if (was != null) {
            owner.down(this, was, why);
        } else if (wasActive) {
            owner.handshakeFailed(this, why);
        }
        origin.ended(this, why);
    }
}
