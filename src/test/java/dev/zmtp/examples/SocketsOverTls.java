package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.io.IOException;

/** A ROUTER and a DEALER with TLS. */
public final class SocketsOverTls {

    private SocketsOverTls() {}

    /** {@code serve CHAIN.pem KEY.pem} echoes on port 5556 until it is killed; {@code ask CERT.pem} asks it once. */
    public static void main(String... args) throws IOException, InterruptedException {
        File chain = new File(args[1]);
        if (args[0].equals("serve")) {
            try (ZMTPSocket server =
                    server(SslContextBuilder.forServer(chain, new File(args[2])).build())) {
                System.out.println(server.bind("tcp://*:5556").join());
                Thread.currentThread().join();
            }
        }
        SslContext trust = SslContextBuilder.forClient()
                .trustManager(chain)
                .endpointIdentificationAlgorithm("HTTPS") // the default of Netty 4.2
                .build();
        try (ZMTPSocket client = client(trust)) {
            client.connect("tcp://localhost:5556"); // the certificate has to be for this host
            System.out.println(TwoThreads.ask(client, "hello"));
        }
    }

    static ZMTPSocket server(SslContext context) {
        ZMTPSocket server =
                ZMTPSocket.open(ZMTPSocketConfig.builder(ROUTER).tls(context).build());
        server.onMessage((client, message) -> server.write(message));
        return server;
    }

    static ZMTPSocket client(SslContext context) {
        return ZMTPSocket.open(ZMTPSocketConfig.builder(DEALER).tls(context).build());
    }
}
