package dev.zmtp.attack;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The sockets of an attacked server, which have all defaults. */
final class AttackedSockets {

    private static final int MEGABYTE = 1 << 20;
    private static final int WORKERS = 2;

    private final List<ZMTPSocket> sockets = new ArrayList<>();
    private final List<String> ports = new ArrayList<>();

    /** Binds the sockets of this service, and has all but a publisher serve. */
    AttackedSockets(Service service) throws InterruptedException {
        switch (service) {
            case ROUTER -> echo();
            case REP -> bind(ZMTPSocketType.REP).serve(AttackedSockets::answer);
            case LATER_REP -> {
                Executor workers = Executors.newFixedThreadPool(WORKERS);
                bind(ZMTPSocketType.REP).serve(request -> workers.execute(() -> request.reply(request.message())));
            }
            case PUB -> bind(ZMTPSocketType.PUB);
            case PULL -> {
                ZMTPSocket pull = bind(ZMTPSocketType.PULL);
                ZMTPSocket results = bind(ZMTPSocketType.PUB);
                pull.onMessage((peer, message) -> results.sendOrDrop(message));
            }
            case IDLE_PULL -> {
                bind(ZMTPSocketType.PULL);
                echo();
            }
            default -> throw new IllegalArgumentException(service + ": not made of sockets");
        }
    }

    private void echo() throws InterruptedException {
        bind(ZMTPSocketType.ROUTER).onMessage((peer, message) -> peer.sendOrDrop(message));
    }

    private static void answer(ZMTPRequest request) {
        boolean asksForMuch = asksForMuch(request.message().frame(0).readableBytes());
        request.reply(asksForMuch ? megabyte() : request.message());
    }

    private static boolean asksForMuch(int length) {
        return length == Service.ASKS_FOR_A_MEGABYTE;
    }

    private static ZMTPMessage megabyte() {
        return ZMTPMessage.from(ByteBufAllocator.DEFAULT.buffer(MEGABYTE).writeZero(MEGABYTE));
    }

    /** The answer to a request, for a REP of another library. */
    static byte[] answer(byte[] request) {
        return asksForMuch(request.length) ? new byte[MEGABYTE] : request;
    }

    private ZMTPSocket bind(ZMTPSocketType type) throws InterruptedException {
        ZMTPSocket socket = ZMTPSocket.of(type);
        String endpoint = socket.bind("tcp://127.0.0.1:*").sync().text();
        sockets.add(socket);
        ports.add(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        return socket;
    }

    /** The ports, that of the attacked one first. */
    String ports() {
        return String.join(" ", ports);
    }

    /** The event loops of all of them. */
    List<EventExecutor> loops() {
        return sockets.stream().<EventExecutor>map(ZMTPSocket::eventLoop).toList();
    }

    /** Publishes a tick on the attacked socket. */
    void publish(byte[] frame) {
        sockets.get(0).sendOrDrop(Ticks.message(frame));
    }
}
