package dev.zmtp.internal.transport;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;

/**
 * The {@code shm://} transport, which uses memory shared by two processes. They meet at the path of a Unix domain
 * socket.
 */
public final class SharedMemoryTransport implements Transport {

    private final UnixChannels unix;

    public SharedMemoryTransport(UnixChannels unix) {
        this.unix = unix;
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
        return new SharedMemoryChannel(unix.channels(), unix.addresses());
    }

    @Override
    public ServerChannel serverChannel() {
        return new SharedMemoryServerChannel(unix.serverChannels(), unix.addresses());
    }
}
