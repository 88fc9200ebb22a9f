package dev.zmtp.internal.socket;

import dev.zmtp.socket.ZMTPTransport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.util.function.Function;
import java.util.function.Supplier;

/** {@code ipc://}: Unix domain sockets. */
public final class IpcTransport implements ZMTPTransport {

    private final Supplier<? extends Channel> channels;
    private final Supplier<? extends ServerChannel> serverChannels;
    private final Function<String, ? extends SocketAddress> addresses;

    public IpcTransport(
            Supplier<? extends Channel> channels,
            Supplier<? extends ServerChannel> serverChannels,
            Function<String, ? extends SocketAddress> addresses) {
        this.channels = channels;
        this.serverChannels = serverChannels;
        this.addresses = addresses;
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
        return channels.get();
    }

    @Override
    public ServerChannel serverChannel() {
        return serverChannels.get();
    }
}
