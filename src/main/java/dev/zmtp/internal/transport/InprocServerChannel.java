package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.LoopHooks;
import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.BindException;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Accepts connections within the process. */
final class InprocServerChannel extends AbstractServerChannel {

    private static final Map<SocketAddress, InprocServerChannel> BOUND = new ConcurrentHashMap<>();

    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final QueueLimit limit;
    private volatile @Nullable SocketAddress local;
    /** Needed because an event loop at its end closes only the channels of its selector. */
    private final Runnable loopEnds = LoopHooks.closing(this);

    private volatile boolean closed;

    InprocServerChannel(QueueLimit limit) {
        this.limit = limit;
    }

    static @Nullable InprocServerChannel at(SocketAddress address) {
        return BOUND.get(address);
    }

    /** Returns the other end, or null if this server has ended. Called on the client's event loop. */
    @Nullable
    InprocChannel accept(InprocChannel client) {
        InprocChannel accepted = InprocChannel.accepted(this, client, limit);
        try {
            LoopHooks.execute(eventLoop(), () -> {
                if (closed) {
                    accepted.unsafe().closeForcibly();
                } else {
                    pipeline().fireChannelRead(accepted);
                    pipeline().fireChannelReadComplete();
                }
            });
            return accepted;
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public boolean isActive() {
        return local != null && !closed;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected void doBind(SocketAddress address) throws BindException {
        if (BOUND.putIfAbsent(address, this) != null) {
            throw new BindException(address + ": the name is in use");
        }
        local = address;
    }

    @Override
    @SuppressWarnings("deprecation") // its successor is in Netty 4.2 only
    protected void doRegister() {
        LoopHooks.add(eventLoop(), loopEnds);
    }

    @Override
    protected void doClose() {
        closed = true;
        if (isRegistered()) {
            LoopHooks.remove(eventLoop(), loopEnds);
        }
        SocketAddress address = local;
        if (address != null) {
            BOUND.remove(address, this);
        }
    }

    @Override
    protected void doBeginRead() {}
}
