package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.CompletableFuture;

/** Two publishers, a proxy and a subscriber in one process, of which nobody drops anything. */
final class SocketProxies {

    private static final String FRONT = "inproc://front";
    private static final String BACK = "inproc://back";
    private static final int PUBLISHERS = 2;

    private final Program program;
    private final EventLoopGroup publishing;
    private final EventLoopGroup forwarding;

    /** One loop for the publishers and the subscriber, and one for the proxy between them. */
    SocketProxies(Program program, EventLoopGroup publishing, EventLoopGroup forwarding) {
        this.program = program;
        this.publishing = publishing;
        this.forwarding = forwarding;
    }

    void start() {
        ZMTPSocket frontend = open(ZMTPSocketType.XSUB, forwarding);
        ZMTPSocket backend = open(ZMTPSocketType.XPUB, forwarding);
        frontend.bind(FRONT).readyFuture().join();
        backend.bind(BACK).readyFuture().join();
        ZMTPProxy.start(frontend, backend);

        ZMTPSocket subscriber = open(ZMTPSocketType.SUB, publishing);
        subscriber.subscribe("");
        SocketTraffic receiving = traffic(program.messages(true));
        receiving.receive(subscriber);
        subscriber.connect(BACK).readyFuture().join();

        SocketTraffic sending = traffic(new Counter());
        CompletableFuture<?>[] known = new CompletableFuture<?>[PUBLISHERS];
        for (int i = 0; i < PUBLISHERS; i++) {
            ZMTPSocket publisher = open(ZMTPSocketType.PUB, publishing);
            ZMTPMessage message = SocketTraffic.message(program.arguments().size());
            publisher.connect(FRONT);
            known[i] = publisher.whenPeers(1).thenRun(() -> sending.send(publisher, message));
        }
        CompletableFuture.allOf(known).join();
        program.ready();
    }

    private SocketTraffic traffic(Counter messages) {
        return new SocketTraffic(program, publishing.next(), messages);
    }

    private ZMTPSocket open(ZMTPSocketType type, EventLoopGroup loop) {
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type).group(loop);
        if (type.isPublisher()) {
            config.overflowPolicy(OverflowPolicy.WAIT);
        }
        return ZMTPSocket.of(config.build());
    }
}
