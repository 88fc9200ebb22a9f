package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many peers, and too many. */
class ScaleTest {

    private static final int PATIENCE_MILLIS = (int) TestSockets.PATIENCE.toMillis();

    /** T64, with few peers, so that it runs with every build. */
    @Tag("T64")
    @Test
    void shortLivedPeersLeaveNothing() throws IOException {
        comeAndGo(400);
    }

    /** T64, with all of its peers. */
    @Tag("T64")
    @Test
    @Tag("slow")
    void tenThousandShortLivedPeersLeaveNothing() throws IOException {
        comeAndGo(10_000);
    }

    private static void comeAndGo(int peers) throws IOException {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            router.onMessage((peer, request) -> peer.sendOrDrop(request));
            String endpoint = bind(router, "tcp://127.0.0.1:*");
            comeAndGo(sockets, endpoint, 50);
            await("the first have left", () -> router.peers().isEmpty());
            long descriptors = descriptors();

            comeAndGo(sockets, endpoint, peers);

            await("all have left", () -> router.peers().isEmpty());
            await("all descriptors are closed, " + descriptors, () -> descriptors() <= descriptors);
        }
    }

    private static void comeAndGo(TestSockets sockets, String endpoint, int peers) {
        int together = 50;
        for (int come = 0; come < peers; come += together) {
            List<ZMTPSocket> here = new ArrayList<>();
            List<CompletableFuture<List<String>>> answers = new ArrayList<>();
            for (int i = 0; i < together; i++) {
                ZMTPSocket dealer = ZMTPSocket.of(sockets.builder(DEALER).build());
                here.add(dealer);
                dealer.connect(endpoint);
                dealer.sendOrDrop(message("hello"));
                answers.add(dealer.receiveAsync().thenApply(TestSockets::frames));
            }
            answers.forEach(answer -> assertThat(get(answer)).containsExactly("hello"));
            here.stream()
                    .map(dealer -> dealer.closeAsync(Duration.ofSeconds(1)))
                    .toList()
                    .forEach(TestSockets::get);
        }
    }

    /** Those of this process; on systems that do not list them, as if there were none. */
    private static long descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        } catch (IOException e) {
            return 0;
        }
    }

    /** T65, with 200 peers: what each holds on the heap, at both ends and with the channels. */
    @Tag("T65")
    @Test
    void anIdlePeerIsSmall(TestSockets sockets) {
        int peers = 200;
        ZMTPSocket router = sockets.open(ROUTER);
        bind(router, "inproc://idle");
        connect(sockets.open(DEALER), "inproc://idle");
        List<ZMTPSocket> dealers = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
            dealers.add(sockets.open(DEALER));
        }
        long before = heap();

        dealers.forEach(dealer -> connect(dealer, "inproc://idle"));
        await("all are there", () -> router.peers().size() == peers + 1);

        long each = (heap() - before) / peers;
        assertThat(each).as("bytes of a connection, both its ends").isLessThan(40_000);
    }

    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /** T66: a message is matched once for each subscriber, whatever the number of its topics. */
    @Tag("T66")
    @Test
    void aSubscriberWithManyTopicsCostsOneMatch(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        String endpoint = bind(pub, "inproc://topics");
        int topics = 1_000;
        List<ZMTPSocket> subs = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ZMTPSocket sub = sockets.open(SUB);
            for (int topic = 0; topic < topics; topic++) {
                sub.subscribe("t" + topic + ".");
            }
            connect(sub, endpoint);
            subs.add(sub);
        }
        get(pub.whenPeers(10));
        await("all topics are known", () -> {
            pub.sendOrDrop(message("t999.now"));
            LockSupport.parkNanos(1_000_000); // otherwise the queues are full of them
            return subs.stream().allMatch(sub -> TestSockets.peer(sub).stats().received() > 0);
        });

        for (String text : List.of("t1000.none", "t0.last")) {
            ZMTPMessage message = message(text);
            await("room", () -> pub.trySend(message));
        }

        for (ZMTPSocket sub : subs) {
            List<String> frames = receive(sub);
            while (frames.get(0).equals("t999.now")) {
                frames = receive(sub);
            }
            assertThat(frames).as("no message comes twice").containsExactly("t0.last");
        }
    }

    /** T67. */
    @Tag("T67")
    @Test
    @Timeout(120)
    @Tag("linux")
    void aSocketWithoutDescriptorsAcceptsAgainWhenThereAreSome() throws Exception {
        List<String> options = List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:-MaxFDLimit");
        List<String> limited = JavaProcess.limited("-n 120", JavaProcess.command(options, PoorProcess.class));
        List<Socket> many = new ArrayList<>();
        try (JavaProcess process = new JavaProcess(limited);
                TestSockets sockets = new TestSockets()) {
            int port = Integer.parseInt(process.line());
            // Classes are loaded now, as no descriptor is left for them later: what serves, and what handles a failure.
            serve(sockets, port, process, "served");
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            assertThat(process.line()).isEqualTo("HandshakeFailed");
            for (int i = 0; i < 120; i++) {
                Socket socket = new Socket();
                many.add(socket);
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
            }
            assertThat(process.line()).isEqualTo("AcceptFailed");
            for (Socket socket : many) {
                socket.close();
            }

            serve(sockets, port, process, "served again");
        } finally {
            for (Socket socket : many) {
                socket.close();
            }
        }
    }

    private static void serve(TestSockets sockets, int port, JavaProcess process, String what)
            throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:" + port);
        push.sendOrDrop(message(what));
        String line = process.line();
        while (line.endsWith("Failed")) {
            line = process.line();
        }
        assertThat(line).isEqualTo(what);
        get(push.closeAsync(TestSockets.PATIENCE));
    }

    /** A PULL on one event loop, as each one takes descriptors, that prints what happens to it. */
    static final class PoorProcess {
        private PoorProcess() {}

        public static void main(String[] args) throws Exception {
            ZMTPSocket pull = ZMTPSocket.of(
                    ZMTPSocketConfig.builder(PULL).group(EventLoops.newGroup(1)).build());
            // Without a descriptor nothing is loaded any more: neither this class, nor the time zones that a logger
            // needs.
            Logger.getLogger("before").warning(String.valueOf(new ZMTPSocketEvent.AcceptFailed("", new IOException())));
            pull.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.AcceptFailed || event instanceof ZMTPSocketEvent.HandshakeFailed) {
                    System.out.println(event.getClass().getSimpleName());
                }
            });
            pull.onMessage((peer, message) -> TestSockets.frames(message).forEach(System.out::println));
            String endpoint = pull.bind("tcp://127.0.0.1:*").readyFuture().get().text();
            System.out.println(endpoint.substring(endpoint.lastIndexOf(':') + 1));
            Thread.currentThread().join();
        }
    }
}
