package dev.zmtp.internal.transport;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;

/** The {@code ws://} and {@code wss://} transports, on the channels of {@code tcp}. */
public final class WebSocketTransport implements Transport {

    private final TcpTransport tcp;
    private final boolean secure;

    /** @param secure true for {@code wss} */
    public WebSocketTransport(TcpTransport tcp, boolean secure) {
        this.tcp = tcp;
        this.secure = secure;
    }

    @Override
    public String scheme() {
        return secure ? "wss" : "ws";
    }

    @Override
    public Address address(String text, boolean bind) {
        return WebSocketAddress.parse(text, bind, secure);
    }

    @Override
    public Channel channel() {
        return tcp.channel();
    }

    @Override
    public ServerChannel serverChannel() {
        return tcp.serverChannel();
    }
}
