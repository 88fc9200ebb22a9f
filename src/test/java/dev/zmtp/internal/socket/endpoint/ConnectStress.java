package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.internal.socket.StressedSocket;
import dev.zmtp.internal.transport.TcpTransport;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Two threads connect to the same endpoint, and one of them closes what it got, which ends at once. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class ConnectStress {

    private ConnectStress() {}

    /** The name of the host is looked up for ever, so nothing is connected in fact. */
    @JCStressTest
    @Outcome(
            id = "STOPPED, STOPPED, false",
            expect = Expect.ACCEPTABLE,
            desc = "Both had the same one, and nobody waits for a peer.")
    @Outcome(
            id = "RESOLVING, STOPPED, true",
            expect = Expect.ACCEPTABLE,
            desc = "The one that was closed came first, and the other one waits for a peer.")
    @Outcome(id = ".*", expect = Expect.FORBIDDEN, desc = "A closed one works, or messages are taken for nobody.")
    @State
    public static class ConnectAndClose extends StressedSocket {

        private static final ZMTPSocketConfig CONFIG =
                ZMTPSocketConfig.builder(PUSH).resolverExecutor(lookup -> {}).build();

        private final SocketEndpoints endpoints = new SocketEndpoints(
                core.context(),
                core,
                Map.of("tcp", new TcpTransport(NioSocketChannel::new, NioServerSocketChannel::new)));

        private volatile @Nullable ZMTPEndpoint kept;
        private volatile @Nullable ZMTPEndpoint closed;

        public ConnectAndClose() {
            super(CONFIG);
        }

        @Actor
        public void connect() {
            pause();
            kept = endpoints.connect("tcp://name:1", null);
        }

        @Actor
        public void connectAndClose() {
            pause();
            ZMTPEndpoint mine = endpoints.connect("tcp://name:1", null);
            closed = mine;
            mine.close();
            loop.runTasks(); // as the event loop, which ends it
        }

        @Arbiter
        public void states(L_Result result) {
            loop.runTasks();
            result.r1 = Objects.requireNonNull(kept).state() + ", "
                    + Objects.requireNonNull(closed).state() + ", "
                    + core.senders().writability().isOpen();
        }
    }
}
