package dev.zmtp.internal.socket;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.socket.ZMTPTransport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import java.util.function.Supplier;

/** {@code shm://}: memory that two processes share. They meet at the path of a Unix domain socket. */
public final class SharedMemoryTransport implements ZMTPTransport {

    private final Supplier<? extends Channel> channels;
    private final Supplier<? extends ServerChannel> serverChannels;

    public SharedMemoryTransport(
            Supplier<? extends Channel> channels, Supplier<? extends ServerChannel> serverChannels) {
        this.channels = channels;
        this.serverChannels = serverChannels;
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
        return channels.get();
    }

    @Override
    public ServerChannel serverChannel() {
        return serverChannels.get();
    }
}
