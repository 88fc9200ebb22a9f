package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;

/** The {@code ipc://} transport, which uses Unix domain sockets. */
public final class IpcTransport implements Transport {

    private final UnixChannels unix;

    public IpcTransport(UnixChannels unix) {
        this.unix = unix;
    }

    @Override
    public String scheme() {
        return "ipc";
    }

    @Override
    public Address address(String text, boolean bind) {
        return new SocketFile(text, bind, unix.addresses());
    }

    @Override
    public Channel channel() {
        return unix.channels().newChannel();
    }

    @Override
    public ServerChannel serverChannel() {
        return unix.serverChannels().newChannel();
    }
}
