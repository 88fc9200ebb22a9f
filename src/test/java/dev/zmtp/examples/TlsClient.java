package dev.zmtp.examples;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLException;

/** A client that checks the host name of a TLS server, on Netty 4.2 and 4.1. */
final class TlsClient {

    private TlsClient() {}

    static SslContext trusting(X509Certificate authority) throws SSLException {
        return SslContextBuilder.forClient()
                .trustManager(authority)
                .endpointIdentificationAlgorithm("HTTPS") // the default of Netty 4.2, but not of 4.1
                .build();
    }

    static void addHandlers(Channel ch, SslContext sslContext, String host, int port, ZMTPConfig config) {
        ch.pipeline().addLast(sslContext.newHandler(ch.alloc(), host, port), ZMTPCodec.from(config));
    }
}
