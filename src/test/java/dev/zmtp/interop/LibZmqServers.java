package dev.zmtp.interop;

import com.sun.jna.Pointer;
import dev.zmtp.security.ZMTPCurveKeyPair;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import java.util.function.UnaryOperator;

/** Servers of libzmq that run until the process ends. */
public final class LibZmqServers {

    private static final int PUB = 1;
    private static final int REP = 4;
    private static final int ROUTER = 6;
    private static final int PULL = 7;

    /** As many as Netty lets wait to be accepted. With libzmq's 100, a storm of connections is slow to come in. */
    private static final int MANY = 4096;

    private LibZmqServers() {}

    /** Sends back what comes to the endpoint that is the argument, until it is killed. */
    @SuppressWarnings("SystemOut")
    public static void main(String... args) throws InterruptedException {
        LibZmq zmq = LibZmqFinder.require();
        Pointer socket = zmq.socket(zmq.newContext(), ROUTER);
        zmq.bind(socket, args[0]);
        System.out.println("bound");
        zmq.proxy(socket, socket);
    }

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
        int port = bind(zmq, socket);
        // A proxy from a socket to itself sends what it receives, without a call through JNA for each message.
        start("libzmq echo", () -> zmq.proxy(socket, socket));
        return port;
    }

    /** Starts a REP that answers requests of one frame with one frame, and returns its port. */
    public static int reply(UnaryOperator<byte[]> answer) {
        LibZmq zmq = LibZmqFinder.require();
        Pointer socket = zmq.socket(zmq.newContext(), REP);
        int port = bind(zmq, socket);
        start("libzmq reply", () -> {
            while (true) {
                LibZmq.Frame frame = Objects.requireNonNull(zmq.receive(socket));
                byte[] request = frame.bytes();
                while (frame.more()) {
                    frame = Objects.requireNonNull(zmq.receive(socket));
                }
                zmq.send(socket, answer.apply(request), 0);
            }
        });
        return port;
    }

    /** Starts a PULL and a PUB that publishes what the first one receives, and returns their ports. */
    public static List<Integer> collect() {
        LibZmq zmq = LibZmqFinder.require();
        Pointer context = zmq.newContext();
        Pointer pull = zmq.socket(context, PULL);
        Pointer publisher = zmq.socket(context, PUB);
        List<Integer> ports = List.of(bind(zmq, pull), bind(zmq, publisher));
        start("libzmq collect", () -> zmq.proxy(pull, publisher));
        return ports;
    }

    /** Binds a PULL from which nobody takes a message, and returns its port. */
    public static int idlePull() {
        LibZmq zmq = LibZmqFinder.require();
        return bind(zmq, zmq.socket(zmq.newContext(), PULL));
    }

    private static void start(String name, Runnable server) {
        Thread thread = new Thread(server, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Binds a PUB and passes what publishes a frame to {@code publisher}, with its port. Returns when that does. */
    public static void publish(ObjIntConsumer<Consumer<byte[]>> publisher) {
        LibZmq zmq = LibZmqFinder.require();
        Pointer socket = zmq.socket(zmq.newContext(), PUB);
        publisher.accept(frame -> zmq.send(socket, frame, 0), bind(zmq, socket));
    }

    private static int bind(LibZmq zmq, Pointer socket) {
        zmq.set(socket, LibZmq.BACKLOG, MANY);
        zmq.bind(socket, "tcp://127.0.0.1:*");
        String endpoint = zmq.getString(socket, LibZmq.LAST_ENDPOINT);
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }
}
