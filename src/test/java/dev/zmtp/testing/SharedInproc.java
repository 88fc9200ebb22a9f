package dev.zmtp.testing;

import dev.zmtp.internal.transport.InprocTransport;
import dev.zmtp.internal.transport.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;

/** {@code shared://name}: the {@code inproc} transport of the process, for sockets of two test loops. */
public final class SharedInproc implements Transport {

    private final Transport inproc = new InprocTransport();

    @Override
    public String scheme() {
        return "shared";
    }

    @Override
    public Address address(String text, boolean bind) {
        return inproc.address(text, bind);
    }

    @Override
    public Channel channel() {
        return inproc.channel();
    }

    @Override
    public ServerChannel serverChannel() {
        return inproc.serverChannel();
    }

    @Override
    public boolean carriesMessages() {
        return true;
    }
}
