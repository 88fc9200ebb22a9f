package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.RECEIVED;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.runtime.MessageRefusal;
import dev.zmtp.internal.runtime.TransportCounts;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.flight.Flight;
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

/** A connection as the last handler of its pipeline, between the codec and the socket. */
public final class PeerHandler extends ChannelInboundHandlerAdapter {

    /** The socket that a connection belongs to and reports to. */
    public interface Owner {
        /** Returns a new peer, with this home if the socket connects to it. */
        Peer newPeer(@Nullable PeerHome home);

        /** Called when a connection is being made. */
        void began(PeerHandler link);

        /** Returns the connection that has this peer's name or place, and might be about to end; null if none has. */
        @Nullable
        PeerHandler inTheWay(Peer peer, PeerInfo info);

        /** Returns the reason why the peer cannot join; null if it can. */
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

        /** Returns the listener that has accepted the connection; null if the connection was made by this side. */
        @Nullable
        ZMTPEndpoint listener();

        /** Returns the peer that the connection belongs to; null for a new peer. */
        @Nullable
        Peer peer();

        /** Called when the handshake has succeeded and the socket is about to accept the peer. */
        void up();

        /** Called when the connection has ended or the attempt has failed. This is the last call, and is made once. */
        void ended(PeerHandler link, Throwable cause);
    }

    /** A connection that the socket has left is over for the socket, while the peer can still read. */
    private enum Stage {
        IN_USE,
        LEFT,
        ENDED
    }

    private final SocketContext context;
    private final Owner owner;
    private final Origin origin;
    /** Like the next two fields, null until the connection has a pipeline, which might never happen. */
    private ChannelHandlerContext ctx;

    private PeerWrites writes;
    private PeerCommands commands;
    private Pings.@Nullable Connection pings;
    private @Nullable PeerInfo info;
    private @Nullable Peer peer;
    /** Null unless this side ends a connection that messages were written to. */
    private @Nullable Farewell farewell;

    /** Peer of that connection. */
    private @Nullable Peer left;

    private @Nullable Newcomer newcomer;
    private @Nullable Throwable cause;
    private boolean wasActive;
    private boolean closedHere;
    private Stage stage = Stage.IN_USE;
    private long upSince;
    private @Nullable Object recorded; // event of the handshake, then of the connection
    private final NameQueue nameQueue = new NameQueue();

    public PeerHandler(SocketContext context, Owner owner, Origin origin) {
        this.context = context;
        this.owner = owner;
        this.origin = origin;
    }

    /** Sets what the peer makes of PINGs. Called before the handler is added. */
    public PeerHandler at(Pings.@Nullable Connection pings) {
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

    /** Time when the handshake succeeded; 0 if it has not. */
    public long upSince() {
        return upSince;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        writes = new PeerWrites(context, ctx, endpoint());
        commands = new PeerCommands(context, writes, () -> channelWritabilityChanged(ctx));
        owner.began(this);
    }

    boolean isWritable() {
        return cause == null && !closedHere && writes.haveRoom() && commands.isEmpty();
    }

    void write(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        writes.write(message, result);
    }

    /** Returns the commands of a connection whose handshake has succeeded. */
    public PeerCommands commands() {
        return commands;
    }

    public long commandsWritten() {
        return commands == null ? 0 : commands.written();
    }

    /** Returns whether the fate of every message written here is known. */
    public boolean isIdle() {
        return writes == null || writes.isIdle();
    }

    void reading(boolean on) {
        if (farewell == null && (!on || cause == null)) { // otherwise it reads, or nothing more is wanted
            ctx.channel().config().setAutoRead(on);
        }
    }

    /** Ends the connection after everything sent to it so far. */
    void disconnect() {
        if (peer != null) {
            peer.outbound().sendNoted();
        }
        close(Farewell.PATIENCE);
    }

    /** Ends the connection when the peer has read all written data, at the latest in {@code patience} nanoseconds. */
    public void close(long patience) {
        closedHere |= cause == null; // otherwise it has failed before
        if (ctx != null) {
            leave(patience);
        }
    }

    private void leave(long patience) {
        if (patience <= 0) {
            Farewell.none(ctx);
        } else if (farewell != null) {
            farewell.within(patience);
        } else if (peer == null || !ctx.channel().isActive() || !writes.haveBegun()) { // it has no unread messages
            ctx.close(); // other data that was sent does not need to be read
        } else {
            farewell = new Farewell(context, ctx);
            left = peer;
            peer = null; // messages that it sends from now on are dropped
            endBecause(new ClosedChannelException());
            farewell.within(patience);
            context.execute(this::leaveSocket); // not now, because the socket might be in the middle of a call
            farewell.begin();
        }
    }

    /** Returns whether there is a connection, or a connection is being made. */
    public boolean isOpen() {
        return ctx != null && stage != Stage.ENDED;
    }

    /** Called when the event loop has ended before the connection. */
    public void lost() {
        nameQueue.clear(); // their connections are lost, too
        if (stage != Stage.ENDED) {
            ended();
        }
    }

    /** Ends the connection because of a failure. */
    public void fail(Throwable failure) {
        wasActive |= wasAccepted(); // it might fail before it is reported to be active
        endBecause(failure);
        ctx.close();
    }

    /** Sets the cause of the end unless there is one. Nothing more is written. */
    private void endBecause(Throwable why) {
        cause = Objects.requireNonNullElse(cause, why);
        commands.drop();
    }

    /** Refuses the peer. The connection ends, and the events of this side report the reason. */
    public void refuse(String reason) {
        refuse(reason, Farewell.PATIENCE);
    }

    /** Like {@link #refuse(String)}, with the time that the peer has to read, in nanoseconds; 0 if it does not read. */
    void refuse(String reason, long patience) {
        cause = new ZMTPSocketException(ZMTPSocketException.Reason.ILLEGAL_STATE, reason);
        leave(patience);
    }

    /** Newcomers waiting for the name or the place of this connection's peer. */
    NameQueue nameQueue() {
        return nameQueue;
    }

    // Inbound

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        wasActive = true;
        recorded = Flight.beginHandshake();
        ctx.fireChannelActive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (farewell != null && event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        }
        if (event instanceof ZMTPHandshakeSuccess success) {
            up(PeerInfo.of(success, ctx.channel()));
        } else if (event instanceof PeerInfo info) {
            up(info);
        } else if (event instanceof ZMTPHandshakeFailure failure) {
            endBecause(failure.cause());
            wasActive |= wasAccepted(); // a limiter ends it before it is reported to be active
            if (!wasAccepted()) {
                return; // the connector logs it once, whereas the codec would log an event without a handler each time
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    private void up(PeerInfo info) {
        long now = context.nanoTime();
        upSince = now == 0 ? 1 : now;
        this.info = info;
        Peer its = Objects.requireNonNullElseGet(origin.peer(), () -> owner.newPeer(null));
        PeerHandler holder = owner.inTheWay(its, info);
        if (holder == null || holder.nameQueue.isFull()) {
            join(its, info);
        } else {
            reading(false);
            newcomer = new Newcomer(this, holder, info, () -> !closedHere && cause == null && decided(its, info));
            newcomer.await(context);
        }
    }

    private boolean decided(Peer its, PeerInfo info) {
        Newcomer decided = Objects.requireNonNull(newcomer);
        join(its, info);
        for (Object next = decided.poll(); next != null; next = decided.poll()) {
            deliver(next);
        }
        newcomer = null; // last, so that data read in the meantime comes after the deferred data
        return stage == Stage.IN_USE && (peer != null || left != null); // a refused peer can take a while to close
    }

    private void join(Peer its, PeerInfo info) {
        String refusal = owner.mayJoin(its, info);
        if (refusal != null) {
            refuse(refusal);
            return;
        }
        peer = its;
        writes.to(its, (TransportCounts) (info.session() == null ? ctx.channel() : info.session()));
        recorded = Flight.connected(recorded, info.flight(endpoint(), context.type(), wasAccepted()), its);
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
        if (from != null && received instanceof ZMTPMessage message) {
            from.counters().add(RECEIVED, 1);
            owner.received(from, message);
        } else if (from != null && received instanceof ZMTPSubscription subscription) {
            owner.subscription(from, subscription);
        } else if (from != null && received instanceof ZMTPMembership membership) {
            owner.membership(from, membership);
        } else {
            ReferenceCountUtil.release(received); // also of a peer that was refused, whose connection is being closed
        }
    }

    /** Returns the number of messages received from the peer. */
    long received() {
        return peer == null ? 0 : peer.counters().get(RECEIVED);
    }

    /** Flushes the answers to the messages read, or those to thousands of peers would wait for each other. */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        writes.flush();
        owner.readComplete();
        ctx.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable() && farewell == null) {
            commands.write();
            Peer to = peer;
            if (to != null) {
                to.outbound().drain();
                owner.becameWritable(to);
            }
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable e) {
        if (e instanceof MessageRefusal) {
            writes.refused();
        } else if (farewell == null) { // otherwise the other writes fail, and the transport closes by itself
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
        if (commands != null) {
            commands.drop();
        }
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
        if (info != null && pings != null && !closedHere && (cause == null || cause instanceof IOException)) {
            pings.hungUp(info.version(), info.knowsPings(), context.nanoTime() - upSince);
        }
        if (was != null) {
            owner.down(this, was, why);
            Flight.ended(recorded, context.type(), was, why);
        } else if (wasActive && !closedHere) {
            owner.handshakeFailed(this, why);
        }
        origin.ended(this, why);
    }
}
