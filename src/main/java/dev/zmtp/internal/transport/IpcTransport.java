package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Function;

/** {@code ipc://}: Unix domain sockets. */
public final class IpcTransport implements Transport {

    private final ChannelFactory<? extends Channel> channels;
    private final ChannelFactory<? extends ServerChannel> serverChannels;
    private final Function<String, ? extends SocketAddress> addresses;

    public IpcTransport(
            ChannelFactory<? extends Channel> channels,
            ChannelFactory<? extends ServerChannel> serverChannels,
            Function<String, ? extends SocketAddress> addresses) {
        this.channels = Objects.requireNonNull(channels, "channels");
        this.serverChannels = Objects.requireNonNull(serverChannels, "serverChannels");
        this.addresses = Objects.requireNonNull(addresses, "addresses");
    }

    @Override
    public String scheme() {
        return "ipc";
    }

    @Override
    public Address address(String text, boolean bind) {
        return new SocketFile(text, bind, addresses);
    }

    @Override
    public Channel channel() {
        return channels.newChannel();
    }

    @Override
    public ServerChannel serverChannel() {
        return serverChannels.newChannel();
    }
}
