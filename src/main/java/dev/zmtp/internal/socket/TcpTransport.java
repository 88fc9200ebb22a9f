package dev.zmtp.internal.socket;

import dev.zmtp.socket.ZMTPTransport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.util.function.Supplier;

/** {@code tcp://}. */
public final class TcpTransport implements ZMTPTransport {

    private final Supplier<? extends Channel> channels;
    private final Supplier<? extends ServerChannel> serverChannels;

    public TcpTransport(Supplier<? extends Channel> channels, Supplier<? extends ServerChannel> serverChannels) {
        this.channels = channels;
        this.serverChannels = serverChannels;
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
        return channels.get();
    }

    @Override
    public ServerChannel serverChannel() {
        return serverChannels.get();
    }
}
