package dev.zmtp.testing;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalServerChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** A connection that a server has accepted from an address: active before there is a handler. Its time stands still. */
public class AddressedChannel extends EmbeddedChannel {

    private static final Channel SERVER = new LocalServerChannel();

    private final @Nullable SocketAddress peer;

    /** A connection from {@code peer}, or from nowhere. */
    @SuppressWarnings("this-escape") // a subclass has nothing that could be used too early
    public AddressedChannel(@Nullable SocketAddress peer, ChannelHandler... handlers) {
        this.peer = peer;
        freezeTime();
        pipeline().addLast(handlers);
    }

    /** A connection from an IP address. */
    public AddressedChannel(String address, int port, ChannelHandler... handlers) {
        this(address(address, port), handlers);
    }

    /** The address with this IP address. */
    public static InetSocketAddress address(String address, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public @Nullable Channel parent() {
        return SERVER;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return peer;
    }
}
