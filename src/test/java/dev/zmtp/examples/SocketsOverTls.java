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

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=SocketsOverTls -Dexec.args=";

    private SocketsOverTls() {}

    /** {@code serve CHAIN.pem KEY.pem} echoes on port 5556 until it is killed; {@code ask CERT.pem} asks it once. */
    public static void main(String... args) throws IOException, InterruptedException {
        boolean serves = args.length == 3 && args[0].equals("serve");
        if (!serves && !(args.length == 2 && args[0].equals("ask"))) {
            System.err.println("usage: " + EXAMPLE + "\"serve CHAIN.pem KEY.pem\", or \"ask CERT.pem\"");
            return;
        }
        System.out.println(
                serves
                        ? "ROUTER socket with TLS on port 5556, echoes. Try: " + EXAMPLE + "\"ask " + args[1] + "\""
                        : "DEALER socket with TLS to localhost:5556, asks once. Run beside it: " + EXAMPLE
                                + "\"serve CHAIN.pem KEY.pem\"");
        File chain = new File(args[1]);
        if (serves) {
            try (ZMTPSocket server =
                    server(SslContextBuilder.forServer(chain, new File(args[2])).build())) {
                System.out.println(server.bind("tcp://*:5556").readyFuture().join());
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
                ZMTPSocket.of(ZMTPSocketConfig.builder(ROUTER).tls(context).build());
        server.onMessage((client, message) -> client.sendOrDrop(message));
        return server;
    }

    static ZMTPSocket client(SslContext context) {
        return ZMTPSocket.of(ZMTPSocketConfig.builder(DEALER).tls(context).build());
    }
}
