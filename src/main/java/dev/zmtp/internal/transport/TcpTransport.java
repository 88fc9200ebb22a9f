package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import java.util.Objects;

/** The {@code tcp://} transport. */
public final class TcpTransport implements Transport {

    private final ChannelFactory<? extends Channel> channels;
    private final ChannelFactory<? extends ServerChannel> serverChannels;

    public TcpTransport(
            ChannelFactory<? extends Channel> channels, ChannelFactory<? extends ServerChannel> serverChannels) {
        this.channels = Objects.requireNonNull(channels, "channels");
        this.serverChannels = Objects.requireNonNull(serverChannels, "serverChannels");
    }

    @Override
    public String scheme() {
        return "tcp";
    }

    @Override
    public Address address(String text, boolean bind) {
        return bind ? TcpAddress.toBind(text) : TcpAddress.toConnect(text);
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
