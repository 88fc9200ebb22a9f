package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.bind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.Forwarder;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections that are cut at any byte: what arrives is whole, in order and once, and each message has a fate. */
class CutConnectionsTest {

    /** So many messages are under way at a time, until all cuts have come; more would only take longer. */
    private static final int BURST = 50;

    private static final int CUTS = 200;
    private static final int LONGEST = 2_000;

    private final List<Integer> received = Collections.synchronizedList(new ArrayList<>());
    private final List<String> torn = Collections.synchronizedList(new ArrayList<>());

    /** A number, and as many bytes that follow from it. */
    private static ZMTPMessage message(int number) {
        byte[] body = new byte[new Random(number).nextInt(LONGEST)];
        Arrays.fill(body, (byte) number);
        return ZMTPMessage.from(Unpooled.copyInt(number), Unpooled.wrappedBuffer(body));
    }

    private void take(ZMTPPeer from, ZMTPMessage message) {
        try {
            if (message.size() != 2 || message.frame(0).readableBytes() != Integer.BYTES) {
                torn.add(message.toString());
                return;
            }
            ByteBuf number = message.frame(0);
            ZMTPMessage whole = message(number.getInt(number.readerIndex()));
            if (message.equals(whole)) {
                received.add(number.getInt(number.readerIndex()));
            } else {
                torn.add(message.toString());
            }
            whole.release();
        } finally {
            message.release();
        }
    }

    /** T41. */
    @Tag("T41")
    @Test
    void noMessageArrivesTwiceInPartOrOutOfOrderAndEachIsAccountedFor() throws Exception {
        Random random = new Random(41);
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            pull.onMessage(this::take);
            try (Forwarder network = new Forwarder(bind(pull, "tcp://127.0.0.1:*"))) {
                ZMTPSocket push =
                        sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(2)));
                ZMTPPeer peer = TestSockets.peerOf(push.connect(network.endpoint()));
                Fates fates = new Fates();
                int sent = 0;
                for (int cut = 0; cut < CUTS; cut++) {
                    network.cutAfter(1 + random.nextInt(BURST * LONGEST / 4));
                    while (network.cuts() == cut) {
                        fates.follow(push.sendAsync(message(sent++)));
                    }
                }
                fates.awaitAll(sent);

                String counters = peer.stats().written() + " written, "
                        + peer.stats().outcomeUnknown() + " unknown, "
                        + peer.stats().dropped() + " dropped, "
                        + peer.stats().queued() + " queued; promised " + fates;
                assertThat(peer.stats().written()
                                + peer.stats().queued()
                                + peer.stats().outcomeUnknown()
                                + peer.stats().dropped())
                        .as(counters)
                        .isEqualTo(sent);
                assertThat(peer.stats().written()).as(counters).isEqualTo(fates.written.get());
                assertThat(fates.other).isEmpty();
            }
        }
        assertThat(torn).isEmpty();
        assertThat(received).hasSizeGreaterThan(CUTS).isSorted().doesNotHaveDuplicates();
    }

    /** What became of the sends, of which a bounded number is under way. */
    private static final class Fates {
        private final Semaphore places = new Semaphore(BURST);
        private final AtomicLong all = new AtomicLong();
        private final AtomicLong written = new AtomicLong();
        private final AtomicLong unknown = new AtomicLong();
        private final List<Throwable> other = Collections.synchronizedList(new ArrayList<>());

        void follow(CompletableFuture<Void> send) throws InterruptedException {
            assertThat(places.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("a send of the last %s has ended", BURST)
                    .isTrue();
            send.whenComplete((nothing, failure) -> {
                if (failure == null) {
                    written.getAndIncrement();
                } else if (failure instanceof ZMTPSocketException e
                        && e.reason() == ZMTPSocketException.Reason.OUTCOME_UNKNOWN) {
                    unknown.getAndIncrement();
                } else {
                    other.add(failure);
                }
                all.getAndIncrement();
                places.release();
            });
        }

        @Override
        public String toString() {
            return written + " written, " + unknown + " unknown, others " + other;
        }

        void awaitAll(int sent) {
            TestSockets.await("the fate of " + sent + " sends", () -> all.get() == sent);
        }
    }
}
