package dev.zmtp.internal.admission;

import dev.zmtp.internal.admission.ConnectionRegistry.Entry;
import dev.zmtp.internal.admission.ConnectionRegistry.Refusal;
import dev.zmtp.internal.runtime.AddressKey;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The handling of channel events that both limiters share: counts a connection when its limiter is added, follows its
 * handshake, and takes the limiter out of the pipeline when that is over.
 */
public final class ConnectionGate {

    private final ConnectionRegistry registry;

    /** How many connections a user may have if connections count for life; 0 if they count during the handshake. */
    private final int maxPerUser;

    /** Finds the session of the codec in a pipeline. */
    private final Function<ChannelPipeline, @Nullable LimitedSession> sessions;

    private final Function<Channel, @Nullable SocketAddress> peerAddress;
    private final BiConsumer<Channel, String> onRefusal;

    /**
     * A gate whose connections count until they are closed, or only during their handshake.
     *
     * @param maxPerUser 0 if they count during the handshake
     */
    public ConnectionGate(
            ConnectionRegistry registry,
            int maxPerUser,
            Function<ChannelPipeline, @Nullable LimitedSession> sessions,
            Function<Channel, @Nullable SocketAddress> peerAddress,
            BiConsumer<Channel, String> onRefusal) {
        this.registry = registry;
        this.maxPerUser = maxPerUser;
        this.sessions = sessions;
        this.peerAddress = peerAddress;
        this.onRefusal = onRefusal;
    }

    private boolean isForLife() {
        return maxPerUser > 0;
    }

    /** The number of connections that are counted. */
    public int count() {
        return registry.size();
    }

    /** The limiter was added to a pipeline. */
    public void added(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        if (!channel.isOpen() || registry.find(channel) != null) {
            return; // its pipeline may be gone; or the limiter was added twice
        }
        Entry entry = registry.entry(ctx, peerAddress.apply(channel));
        Refusal refusal = registry.add(entry, AddressKey.of(entry.peer));
        if (refusal == null || refusal.entry() != entry) {
            // A channel whose registration fails is closed, and its handlers may never be removed.
            channel.closeFuture().addListener(entry);
        }
        execute(refusal, entry);
    }

    /** The channel has become active. */
    public void connected(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry != null) {
            progressed(entry);
        }
    }

    /** Something has arrived, and the other handlers have had it. */
    public void received(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry != null) {
            progressed(entry);
            endPause(entry);
        }
    }

    /** This side sends something. */
    public void sends(ChannelHandlerContext ctx) {
        registry.answered(ctx.channel());
    }

    private void progressed(Entry entry) {
        followAddress(entry);
        findSession(entry);
    }

    private @Nullable LimitedSession findSession(Entry entry) {
        LimitedSession known = entry.session;
        LimitedSession session = known == null ? sessions.apply(entry.ctx.pipeline()) : known;
        if (session != known) { // its codec may have been added only now, by a handler that chooses a protocol
            entry.session = session;
            session.handshakeFuture().addListener(done -> handshakeEnded(entry, session));
        }
        return session;
    }

    /**
     * Returns whether the read that a handler asks for has to wait. It is issued later then. That is decided once for a
     * connection, when its session and its address are known.
     */
    public boolean holdsRead(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry == null || entry.ctx != ctx) {
            return false;
        }
        LimitedSession session = findSession(entry);
        if (ctx.isRemoved()) { // its handshake was over
            return false;
        }
        if (entry.pause == null && session != null && entry.peer != null && session.claimPause()) {
            entry.pause = new ReadPause(ctx, session, entry.peer);
        }
        return entry.pause != null && entry.pause.holdsRead();
    }

    private static void endPause(Entry entry) {
        if (entry.pause != null) {
            entry.pause.end();
        }
    }

    private void followAddress(Entry entry) {
        SocketAddress peer = peerAddress.apply(entry.ctx.channel());
        if (!Objects.equals(peer, entry.peer)) {
            entry.peer = peer;
            execute(registry.move(entry, AddressKey.of(peer)), entry);
        }
    }

    private void handshakeEnded(Entry entry, LimitedSession session) {
        ChannelHandlerContext ctx = entry.ctx;
        if (!ctx.executor().inEventLoop()) { // the codec may have been added with an executor of its own
            ctx.executor().execute(() -> handshakeEnded(entry, session));
            return;
        }
        endPause(entry); // also of one that is not counted any more
        if (isForLife() && session.handshakeFuture().isSuccess()) {
            followAddress(entry);
            establish(entry, session);
        }
        if (!ctx.isRemoved()) {
            ctx.pipeline().remove(ctx.name());
        }
    }

    private void establish(Entry entry, LimitedSession session) {
        if (!settle(entry)) {
            return;
        }
        String userId = session.userId();
        if (!userId.isEmpty()) {
            execute(registry.countUser(entry, userId, maxPerUser), entry);
        }
    }

    /** Counts the connection from now on until it is closed. Returns false if it is closed. */
    private boolean settle(Entry entry) {
        if (!entry.ctx.channel().isOpen()) {
            return false; // its close future has counted it down, and would not do so again
        }
        registry.settle(entry);
        return true;
    }

    /** The limiter was removed from a pipeline. */
    public void removed(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry == null || entry.ctx != ctx) {
            return;
        }
        endPause(entry);
        if (isForLife()) {
            settle(entry);
        } else {
            registry.remove(entry);
            ctx.channel().closeFuture().removeListener(entry);
        }
    }

    /** Carries out a refusal that the connection of {@code newcomer} has caused, on the refused one's event loop. */
    private void execute(@Nullable Refusal refusal, Entry newcomer) {
        if (refusal == null) {
            return;
        }
        if (refusal.entry() == newcomer) {
            close(refusal);
            return;
        }
        ChannelHandlerContext ctx = refusal.entry().ctx;
        if (ctx.executor().inEventLoop()) {
            evict(refusal);
            return;
        }
        try {
            ctx.executor().execute(() -> evict(refusal));
        } catch (RejectedExecutionException e) {
            ctx.channel().close(); // its event loop has ended, and so has the connection
        }
    }

    private void evict(Refusal refusal) {
        ChannelHandlerContext ctx = refusal.entry().ctx;
        if (!ctx.isRemoved()) {
            findSession(refusal.entry()); // the present read may have added the codec and ended its handshake
        }
        if (ctx.isRemoved() || !ctx.channel().isOpen()) {
            return; // the handshake has ended meanwhile
        }
        close(refusal);
    }

    private void close(Refusal refusal) {
        ChannelHandlerContext ctx = refusal.entry().ctx;
        resetOnClose(ctx.channel());
        try {
            onRefusal.accept(ctx.channel(), refusal.reason());
        } catch (Throwable e) { // from user code, and the newcomer has nothing to do with it
            ctx.fireExceptionCaught(e);
        }
        ctx.channel().close();
        ctx.close(); // immediately: an SslHandler would wait to flush its close_notify
    }

    /** Sends a RST in place of a FIN: a flood of strangers must not leave us their connections in TIME_WAIT. */
    private static void resetOnClose(Channel channel) {
        try {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        } catch (RuntimeException e) {
            // The peer was faster, and the socket is closed.
        }
    }
}
