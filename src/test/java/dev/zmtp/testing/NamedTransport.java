package dev.zmtp.testing;

import dev.zmtp.internal.transport.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;

/** TCP to names that a test looks up, where names of hosts are. */
public abstract class NamedTransport implements Transport {

    private final String scheme;

    protected NamedTransport(String scheme) {
        this.scheme = scheme;
    }

    /** Returns the addresses of the name. Called for each attempt. */
    protected abstract List<? extends SocketAddress> lookUp(String name) throws IOException;

    @Override
    public final String scheme() {
        return scheme;
    }

    @Override
    public final Address address(String text, boolean bind) {
        return new Address() {
            @Override
            public List<? extends SocketAddress> resolve() throws IOException {
                return lookUp(text);
            }

            @Override
            public Asks asks() {
                return Asks.NAMES;
            }

            @Override
            public String toString() {
                return text;
            }
        };
    }

    @Override
    public final Channel channel() {
        return new NioSocketChannel();
    }

    @Override
    public final ServerChannel serverChannel() {
        return new NioServerSocketChannel();
    }
}
