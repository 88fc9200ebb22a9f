package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Function;

/**
 * The Unix domain sockets of a Netty transport, which has to match the event loops.
 *
 * @param addresses creates the address of a path
 */
public record UnixChannels(
        ChannelFactory<? extends Channel> channels,
        ChannelFactory<? extends ServerChannel> serverChannels,
        Function<String, ? extends SocketAddress> addresses) {

    /** Checks that all components are present. */
    public UnixChannels {
        Objects.requireNonNull(channels, "channels");
        Objects.requireNonNull(serverChannels, "serverChannels");
        Objects.requireNonNull(addresses, "addresses");
    }
}
