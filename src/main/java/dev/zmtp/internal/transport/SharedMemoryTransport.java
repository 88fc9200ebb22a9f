package dev.zmtp.internal.transport;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Function;

/** {@code shm://}: memory that two processes share. They meet at the path of a Unix domain socket. */
public final class SharedMemoryTransport implements Transport {

    private final ChannelFactory<? extends Channel> sockets;
    private final ChannelFactory<? extends ServerChannel> serverSockets;
    private final Function<String, ? extends SocketAddress> addresses;

    /** With these Unix domain sockets, which have to fit the event loops. */
    public SharedMemoryTransport(
            ChannelFactory<? extends Channel> sockets,
            ChannelFactory<? extends ServerChannel> serverSockets,
            Function<String, ? extends SocketAddress> addresses) {
        this.sockets = Objects.requireNonNull(sockets, "channels");
        this.serverSockets = Objects.requireNonNull(serverSockets, "serverChannels");
        this.addresses = Objects.requireNonNull(addresses, "addresses");
    }

    @Override
    public String scheme() {
        return "shm";
    }

    @Override
    public Address address(String text, boolean bind) {
        if (text.startsWith("@")) {
            throw new IllegalArgumentException("endpoint: shm://" + text + " (expected: the path of a file)");
        }
        return new SocketFile(text, bind, SharedMemoryAddress::new);
    }

    @Override
    public Channel channel() {
        return new SharedMemoryChannel(sockets::newChannel, addresses::apply);
    }

    @Override
    public ServerChannel serverChannel() {
        return new SharedMemoryServerChannel(serverSockets::newChannel, addresses::apply);
    }
}
