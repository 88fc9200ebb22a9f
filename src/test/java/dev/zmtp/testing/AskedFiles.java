package dev.zmtp.testing;

import dev.zmtp.internal.transport.IpcTransport;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.internal.transport.UnixChannels;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code asked://}: the files of {@code ipc} as if they were names, so that a test decides when they are looked up. */
public final class AskedFiles implements Transport {

    private final Transport ipc = new IpcTransport(new UnixChannels(
            NioDomainSocketChannel::new, NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of));

    @Override
    public String scheme() {
        return "asked";
    }

    @Override
    public Address address(String text, boolean bind) {
        Address file = ipc.address(text, bind);
        return new Address() {
            @Override
            public List<? extends SocketAddress> resolve() throws IOException {
                return file.resolve();
            }

            @Override
            public Asks asks() {
                return Asks.NAMES;
            }

            @Override
            public String boundTo(SocketAddress local) {
                return file.boundTo(local);
            }

            @Override
            public void bound(@Nullable Set<PosixFilePermission> permissions) {
                file.bound(permissions);
            }

            @Override
            public void unbound() {
                file.unbound();
            }

            @Override
            public String toString() {
                return text;
            }
        };
    }

    @Override
    public Channel channel() {
        return ipc.channel();
    }

    @Override
    public ServerChannel serverChannel() {
        return ipc.serverChannel();
    }
}
