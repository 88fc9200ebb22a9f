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
 * The channel event handling that both limiters share. It counts a connection when its limiter is added, follows its
 * handshake, and removes the limiter from the pipeline when the handshake is over.
 */
public final class ConnectionGate {

    private final ConnectionRegistry registry;

    /**
     * Maximum number of connections per user if connections count until they are closed; 0 if they count during the
     * handshake.
     */
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

    /** Returns the number of counted connections. */
    public int count() {
        return registry.size();
    }

    /** Called when the limiter has been added to a pipeline. */
    public void added(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        if (!channel.isOpen() || registry.find(channel) != null) {
            return; // the pipeline can be gone, or the limiter was added twice
        }
        Entry entry = registry.entry(ctx, peerAddress.apply(channel));
        Refusal refusal = registry.add(entry, AddressKey.of(entry.peer));
        if (refusal == null || refusal.entry() != entry) {
            // A channel whose registration fails is closed, and its handlers might never be removed.
            channel.closeFuture().addListener(entry);
        }
        execute(refusal, entry);
    }

    /** Called when the channel has become active. */
    public void connected(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry != null) {
            progressed(entry);
        }
    }

    /** Called when data has arrived, before the other handlers process it. */
    public void arrived(ChannelHandlerContext ctx) {
        registry.arrived(ctx.channel());
    }

    /** Called when data has arrived and the other handlers have processed it. */
    public void received(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry != null) {
            progressed(entry);
            endPause(entry);
        }
    }

    /** Called when this side sends. */
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
        if (session != known) { // a handler that chooses a protocol can have just added the codec
            entry.session = session;
            session.handshakeFuture().addListener(done -> handshakeEnded(entry, session));
        }
        return session;
    }

    /**
     * Returns whether a requested read has to wait. It is then issued later. The decision is made once per connection,
     * when its session and its address are known.
     */
    public boolean holdsRead(ChannelHandlerContext ctx) {
        Entry entry = registry.find(ctx.channel());
        if (entry == null || entry.ctx != ctx) {
            return false;
        }
        LimitedSession session = findSession(entry);
        if (ctx.isRemoved()) { // the handshake was already over
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
        if (!ctx.executor().inEventLoop()) { // the limiter can have been added with its own executor
            ctx.executor().execute(() -> handshakeEnded(entry, session));
            return;
        }
        endPause(entry); // even if the entry is no longer counted
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

    /** Counts the connection until it is closed. Returns false if it is closed. */
    private boolean settle(Entry entry) {
        if (!entry.ctx.channel().isOpen()) {
            return false; // its close future has already decremented the count
        }
        registry.settle(entry);
        return true;
    }

    /** Called when the limiter has been removed from a pipeline. */
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

    /**
     * Executes the refusal caused by the connection of {@code newcomer}, on the event loop of the refused connection.
     */
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
            ctx.channel().close(); // its event loop has terminated, and so has the connection
        }
    }

    private void evict(Refusal refusal) {
        ChannelHandlerContext ctx = refusal.entry().ctx;
        if (!ctx.isRemoved()) {
            findSession(refusal.entry()); // the current read can have added the codec and ended its handshake
        }
        if (ctx.isRemoved() || !ctx.channel().isOpen()) {
            return; // the handshake has ended in the meantime
        }
        close(refusal);
    }

    private void close(Refusal refusal) {
        ChannelHandlerContext ctx = refusal.entry().ctx;
        resetOnClose(ctx.channel());
        try {
            onRefusal.accept(ctx.channel(), refusal.reason());
        } catch (Throwable e) { // thrown by user code, and unrelated to the newcomer
            ctx.fireExceptionCaught(e);
        }
        ctx.channel().close();
        ctx.close(); // immediately, because an SslHandler would wait to flush its close_notify
    }

    /** Sends an RST instead of a FIN. A flood of strangers must not leave connections in TIME_WAIT on this host. */
    private static void resetOnClose(Channel channel) {
        try {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        } catch (RuntimeException e) {
            // The peer was faster, and the socket is already closed.
        }
    }
}
