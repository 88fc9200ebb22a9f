package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** A service after a proxy that reports the peer's address in a PROXY header. */
final class ProxiedService {

    private ProxiedService() {}

    /**
     * Returns a limiter for all connections of the service. It counts a connection for the peer's address once that is
     * known, and never for the proxy's.
     */
    static ZMTPHandshakeLimiter limiter() {
        return new ZMTPHandshakeLimiter() {
            @Override
            protected SocketAddress peerAddress(Channel ch) {
                return ch.attr(ZMTPCodec.PEER_ADDRESS).get(); // null until the header has arrived
            }
        };
    }

    static void addHandlers(Channel ch, ZMTPHandshakeLimiter limiter, ZMTPConfig config) {
        ch.pipeline().addLast(limiter, new HAProxyMessageDecoder(), new ProxyHeader(), ZMTPCodec.from(config));
    }

    /** Returns the configuration of a socket after the proxy, which is bound only. */
    static ZMTPSocketConfig socket() {
        return ZMTPSocketConfig.builder(ROUTER)
                .handshakeLimiter(limiter())
                .pipelineInitializer((endpoint, p) -> p.addLast(new HAProxyMessageDecoder(), new ProxyHeader()))
                .build();
    }

    /**
     * Sets the peer's address to the one in the header, for the authenticator and for messages. Then it removes itself.
     */
    static final class ProxyHeader extends SimpleChannelInboundHandler<HAProxyMessage> {

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HAProxyMessage header) throws Exception {
            String source = header.sourceAddress(); // null if the proxy itself connects, such as for a health check
            byte[] address = source == null ? null : NetUtil.createByteArrayFromIpAddressString(source);
            if (address != null) {
                InetSocketAddress peer = new InetSocketAddress(InetAddress.getByAddress(address), header.sourcePort());
                ctx.channel().attr(ZMTPCodec.PEER_ADDRESS).set(peer);
            }
            ctx.pipeline().remove(this);
        }
    }
}
