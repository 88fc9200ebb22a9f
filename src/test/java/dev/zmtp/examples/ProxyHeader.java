package dev.zmtp.examples;

import dev.zmtp.codec.ZMTPCodec;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Sets the peer's address to the one in the PROXY header, for the authenticator and for messages. Then it removes itself. */
final class ProxyHeader extends SimpleChannelInboundHandler<HAProxyMessage> {

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
