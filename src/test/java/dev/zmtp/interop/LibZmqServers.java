package dev.zmtp.interop;

import com.sun.jna.Pointer;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.security.ZMTPCurveKeyPair;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

/** Servers of libzmq that run until the process ends. */
public final class LibZmqServers {

    private static final int ROUTER = 6;

    private LibZmqServers() {}

    /**
     * Starts a ROUTER that sends each message back to its sender, on a thread that is libzmq's for good, and returns
     * its port. With a key pair it is a server of CURVE that accepts everyone.
     */
    public static int echo(Optional<ZMTPCurveKeyPair> keys) {
        LibZmq zmq = LibZmqFinder.require();
        Pointer socket = zmq.socket(zmq.newContext(), ROUTER);
        keys.ifPresent(pair -> {
            zmq.set(socket, LibZmq.CURVE_SERVER, 1);
            zmq.set(socket, LibZmq.CURVE_SECRETKEY, pair.secretKey());
        });
        zmq.bind(socket, "tcp://127.0.0.1:*");
        String endpoint = zmq.getString(socket, LibZmq.LAST_ENDPOINT);
        // A proxy from a socket to itself sends what it receives, without a call through JNA for each message.
        Thread thread = new Thread(() -> zmq.proxy(socket, socket), "libzmq echo");
        thread.setDaemon(true);
        thread.start();
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    /**
     * Binds a PUB, passes its port to {@code bound}, and lets {@code publisher} publish on this thread until it
     * returns.
     */
    public static void publish(ObjIntConsumer<Consumer<ZMTPMessage>> publisher) {
        try (PeerContext peer = PeerKind.LIBZMQ.open()) {
            PeerSocket socket = peer.socket(ZMTPSocketType.PUB);
            int port = socket.bind();
            publisher.accept(message -> {
                socket.send(message);
                message.release();
            }, port);
        }
    }
}
