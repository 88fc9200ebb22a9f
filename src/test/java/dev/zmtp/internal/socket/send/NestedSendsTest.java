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
import dev.zmtp.testing.VirtualTime;
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
        try (VirtualTime time = new VirtualTime()) {
            int[] connections = {0};
            BiConsumer<ZMTPEndpoint, ChannelPipeline> second = (endpoint, pipeline) -> {
                if (++connections[0] == 2) {
                    gate.accept(endpoint, pipeline);
                }
            };
            ZMTPSocket xpub = time.open(ZMTPSocketConfig.builder(XPUB)
                    .overflowPolicy(OverflowPolicy.WAIT)
                    .sendQueueLimit(1, 16 << 20)
                    .pipelineInitializer(second));
            xpub.bind("inproc://all");
            List<String> free = subscriber(time);
            List<String> held = subscriber(time);
            List<ZMTPPeer> peers = new ArrayList<>(xpub.peers());
            gate.close();
            for (ZMTPPeer peer : peers) {
                peer.sendAsync(WriteGate.big("fills"));
            }
            time.run();
            ZMTPPeer writable = peers.stream()
                    .filter(peer -> peer.stats().written() == 1)
                    .findFirst()
                    .orElseThrow();
            writable.sendAsync(message("before")).thenRun(() -> xpub.trySend(message("between")));

            assertThat(xpub.trySend(WriteGate.big("all"))).isTrue();

            gate.open();
            time.run();
            assertThat(free).containsExactly("fills", "before", "all", "between");
            assertThat(held).containsExactly("fills", "between", "all");
        }
    }

    private static List<String> subscriber(VirtualTime time) {
        ZMTPSocket sub = time.open(ZMTPSocketConfig.builder(SUB));
        List<String> received = new ArrayList<>();
        sub.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
        sub.subscribe("");
        sub.connect("inproc://all");
        time.run();
        return received;
    }

    /** And what is being sent is not returned as well. */
    @Test
    void aProxyThatIsClosedInTheMiddleOfASendReturnsOnlyTheRest() {
        try (VirtualTime time = new VirtualTime()) {
            ZMTPSocket front = time.open(ZMTPSocketConfig.builder(PULL));
            ZMTPSocket back = time.open(ZMTPSocketConfig.builder(PUSH));
            ZMTPSocket end = time.open(ZMTPSocketConfig.builder(PULL));
            List<String> received = new ArrayList<>();
            end.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
            end.bind("inproc://end");
            back.connect("inproc://end");
            front.bind("inproc://front");
            ZMTPSocket source = time.open(ZMTPSocketConfig.builder(PUSH));
            source.connect("inproc://front");
            time.run();
            ZMTPProxy proxy = ZMTPProxy.start(front, back);
            time.run();
            back.sendAsync(message("before")).thenRun(proxy::close);

            ClockedSockets.core(front).received((Peer) front.peers().iterator().next(), WriteGate.big("forwarded"));
            time.run();

            assertThat(proxy.closeFuture()).isCompleted();
            assertThat(received).containsExactly("before", "forwarded");
            List<ZMTPMessage> returned = new ArrayList<>();
            front.onMessage((from, message) -> returned.add(message));
            time.run();
            assertThat(returned).isEmpty();
        }
    }
}
