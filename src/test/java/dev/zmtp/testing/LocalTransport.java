package dev.zmtp.testing;

import dev.zmtp.internal.transport.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.net.SocketAddress;
import java.util.List;

/** {@code local://name}: ZMTP within the process, with its greeting and handshake, and without a network. */
public final class LocalTransport implements Transport {

    @Override
    public String scheme() {
        return "local";
    }

    @Override
    public Address address(String text, boolean bind) {
        return new Name(text);
    }

    @Override
    public Channel channel() {
        return new LocalChannel();
    }

    @Override
    public ServerChannel serverChannel() {
        return new LocalServerChannel();
    }

    private record Name(String text) implements Address {

        @Override
        public List<? extends SocketAddress> resolve() {
            return List.of(new LocalAddress(text));
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
