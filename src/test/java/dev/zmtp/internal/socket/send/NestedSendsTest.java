package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the application does in the middle of a send: a write may flush, and that may notify it of an earlier one. */
@Tag("netty-4.2-only")
class NestedSendsTest {

    private final WriteGate gate = new WriteGate();

    /** The message was accepted for all subscribers before the other one took the room of the second. */
    @Test
    void aMessageThatWaitsForAllReachesAllThoughAnotherComesInBetween() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            int[] connections = {0};
            BiConsumer<ZMTPEndpoint, ChannelPipeline> second = (endpoint, pipeline) -> {
                if (++connections[0] == 2) {
                    gate.accept(endpoint, pipeline);
                }
            };
            ZMTPSocket xpub = loop.open(ZMTPSocketConfig.builder(XPUB)
                    .overflowPolicy(OverflowPolicy.WAIT)
                    .sendQueueLimit(1, 16 << 20)
                    .pipelineInitializer(second));
            xpub.bind("inproc://all");
            List<String> free = subscriber(loop);
            List<String> held = subscriber(loop);
            List<ZMTPPeer> peers = new ArrayList<>(xpub.peers());
            gate.close();
            for (ZMTPPeer peer : peers) {
                peer.sendAsync(WriteGate.big("fills"));
            }
            loop.run();
            ZMTPPeer writable = peers.stream()
                    .filter(peer -> peer.stats().written() == 1)
                    .findFirst()
                    .orElseThrow();
            writable.sendAsync(message("before")).thenRun(() -> xpub.trySend(message("between")));

            assertThat(xpub.trySend(WriteGate.big("all"))).isTrue();

            gate.open();
            loop.run();
            assertThat(free).containsExactly("fills", "before", "all", "between");
            assertThat(held).containsExactly("fills", "between", "all");
        }
    }

    private static List<String> subscriber(ZMTPTestLoop loop) {
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        List<String> received = new ArrayList<>();
        sub.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
        sub.subscribe("");
        sub.connect("inproc://all");
        loop.run();
        return received;
    }

    /** And what is being sent is not returned as well. */
    @Test
    void aProxyThatIsClosedInTheMiddleOfASendReturnsOnlyTheRest() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket front = loop.open(ZMTPSocketConfig.builder(PULL));
            ZMTPSocket back = loop.open(ZMTPSocketConfig.builder(PUSH));
            ZMTPSocket end = loop.open(ZMTPSocketConfig.builder(PULL));
            List<String> received = new ArrayList<>();
            end.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
            end.bind("inproc://end");
            back.connect("inproc://end");
            front.bind("inproc://front");
            ZMTPSocket source = loop.open(ZMTPSocketConfig.builder(PUSH));
            source.connect("inproc://front");
            loop.run();
            ZMTPProxy proxy = ZMTPProxy.start(front, back);
            loop.run();
            back.sendAsync(message("before")).thenRun(proxy::close);

            ClockedSockets.core(front).received((Peer) front.peers().iterator().next(), WriteGate.big("forwarded"));
            loop.run();

            assertThat(proxy.closeFuture()).isCompleted();
            assertThat(received).containsExactly("before", "forwarded");
            List<ZMTPMessage> returned = new ArrayList<>();
            front.onMessage((from, message) -> returned.add(message));
            loop.run();
            assertThat(returned).isEmpty();
        }
    }
}
