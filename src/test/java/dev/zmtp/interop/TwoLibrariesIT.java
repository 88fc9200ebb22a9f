package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Peers of libzmq and JeroMQ with options that change what they send, and services that are written by hand with their
 * ROUTER: what our requests look like is their protocol.
 */
class TwoLibrariesIT {

    private static final ZMTPMessage PROBE = Messages.of("");
    private static final int QUESTIONS = 20;

    static List<Arguments> everyLibraryAndBinder() {
        return Every.combinationOf(
                new SocketPeerKind[] {SocketPeerKind.LIBZMQ, SocketPeerKind.JEROMQ}, Binder.values());
    }

    // Requests with numbers

    @Tag("T2")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void theirNumberedRequestsAreAnsweredByOurRep(SocketPeerKind kind, Binder binder) {
        theirNumberedRequestsAreAnswered(kind, binder, ZMTPSocketType.REP);
    }

    @Tag("T2")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void theirNumberedRequestsAreAnsweredByOurRouter(SocketPeerKind kind, Binder binder) {
        theirNumberedRequestsAreAnswered(kind, binder, ZMTPSocketType.ROUTER);
    }

    private static void theirNumberedRequestsAreAnswered(SocketPeerKind kind, Binder binder, ZMTPSocketType ours) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket service = sides.ours(ours);
            service.socket().serve(request -> request.reply(request.message()));
            PeerSocket req = sides.theirs(ZMTPSocketType.REQ);
            req.correlate();
            BothSides.join(binder, service, req);

            for (int i = 0; i < QUESTIONS; i++) {
                ZMTPMessage question = Messages.of("question", "number " + i);
                req.send(question);
                assertThat(req.receive()).isEqualTo(question);
            }
            assertThat(service.socket().stats().malformed()).isZero();
        }
    }

    @Tag("T2")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void ourNumberedRequestsAreAnsweredByTheirRep(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket req = sides.ours(ZMTPSocketType.REQ);
            req.correlate();
            PeerSocket rep = sides.theirs(ZMTPSocketType.REP);
            BothSides.join(binder, req, rep);

            for (int i = 0; i < QUESTIONS; i++) {
                req.send(Messages.of("question", "number " + i));
                assertThat(rep.receive()).isEqualTo(Messages.of("question", "number " + i));
                rep.send(Messages.of("answer", "number " + i));
                assertThat(req.receive()).isEqualTo(Messages.of("answer", "number " + i));
            }
        }
    }

    // Probes

    @Tag("T4")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void aProbeTellsOurRouterWhoIsThere(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket router = sides.ours(ZMTPSocketType.ROUTER);
            PeerSocket dealer = sides.theirs(ZMTPSocketType.DEALER);
            dealer.identity("dealer");
            dealer.probeRouter();
            BothSides.join(binder, router, dealer);

            assertThat(probed(router, dealer)).isEqualTo(Messages.of("dealer", ""));

            router.send(Messages.of("dealer", "welcome"));
            assertThat(dealer.receive()).isEqualTo(Messages.of("welcome"));
        }
    }

    @Tag("T10")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void aProbeOfTheirRouterReachesOurs(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket ours = sides.ours(ZMTPSocketType.ROUTER);
            ours.identity("ours");
            PeerSocket theirs = sides.theirs(ZMTPSocketType.ROUTER);
            theirs.identity("theirs");
            theirs.probeRouter();
            BothSides.join(binder, ours, theirs);

            assertThat(probed(ours, theirs)).isEqualTo(Messages.of("theirs", ""));

            ours.send(Messages.of("theirs", "a word"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("ours", "a word"));
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void aProbeOfTheirRouterIsAnEmptyMessageToOurDealer(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket dealer = sides.ours(ZMTPSocketType.DEALER);
            PeerSocket router = sides.theirs(ZMTPSocketType.ROUTER);
            router.probeRouter();
            BothSides.join(binder, dealer, router);

            assertThat(probed(dealer, router)).isEqualTo(PROBE);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyLibraryAndBinder")
    void aProbeIsNoRequestAndTheNextOneIsServed(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket router = sides.ours(ZMTPSocketType.ROUTER);
            router.socket().serve(request -> request.reply(request.message()));
            PeerSocket req = sides.theirs(ZMTPSocketType.REQ);
            req.probeRouter();
            BothSides.join(binder, router, req);

            req.send(Messages.of("question"));

            assertThat(req.receive()).isEqualTo(Messages.of("question"));
            assertThat(router.socket().stats().malformed()).isEqualTo(1);
        }
    }

    /** What our socket receives first. A socket that listens probes when its own thread calls it, whatever for. */
    private static ZMTPMessage probed(PeerSocket ours, PeerSocket theirs) {
        long deadline = Patience.deadline();
        ZMTPMessage first = null;
        while (first == null) {
            assertThat(Patience.isOver(deadline)).as("too late").isFalse();
            theirs.pump();
            first = ours.receive(Patience.RETRY);
        }
        return first;
    }

    // Services with their ROUTER

    /** The guide's broker: a worker asks for work, its next request is the answer to the one before. */
    @Tag("T2")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OURS")
    void theirLoadBalancingBrokerHasOurClientsAndWorkers(SocketPeerKind kind) {
        try (BothSides sides = new BothSides(kind)) {
            LoadBalancer broker =
                    new LoadBalancer(sides.theirs(ZMTPSocketType.ROUTER), sides.theirs(ZMTPSocketType.ROUTER));
            OurPeer.Socket worker = sides.ours(ZMTPSocketType.REQ);
            OurPeer.Socket other = sides.ours(ZMTPSocketType.REQ);
            OurPeer.Socket client = sides.ours(ZMTPSocketType.REQ);
            worker.connect(broker.workersPort());
            other.connect(broker.workersPort());
            client.connect(broker.clientsPort());

            work(worker.socket(), Messages.of(LoadBalancer.READY));
            work(other.socket(), Messages.of(LoadBalancer.READY));
            for (int i = 0; i < QUESTIONS; i++) {
                CompletableFuture<ZMTPMessage> answer =
                        client.socket().requestAsync(Messages.of("question " + i), Patience.LIMIT);
                broker.pass();
                assertThat(Messages.heap(TestSockets.get(answer))).isEqualTo(Messages.of("done: question " + i));
            }
        }
    }

    /** Sends what it has done, and does what the broker has for it. */
    private static void work(ZMTPSocket worker, ZMTPMessage done) {
        worker.requestAsync(done, Patience.LIMIT).thenAccept(job -> {
            List<byte[]> frames = Messages.frames(Messages.heap(job)); // the client, an empty frame, the question
            frames.set(2, ("done: " + text(frames.get(2))).getBytes(StandardCharsets.UTF_8));
            work(worker, Messages.of(frames));
        });
    }

    /** A service by name, as in RFC 7 and RFC 18: the client is a REQ, the worker a DEALER that writes the delimiter. */
    @Tag("T2")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OURS")
    void theirMajordomoHasOurClientAndWorker(SocketPeerKind kind) {
        try (BothSides sides = new BothSides(kind)) {
            Majordomo broker = new Majordomo(sides.theirs(ZMTPSocketType.ROUTER));
            OurPeer.Socket worker = sides.ours(ZMTPSocketType.DEALER);
            OurPeer.Socket client = sides.ours(ZMTPSocketType.REQ);
            worker.connect(broker.port());
            client.connect(broker.port());
            worker.socket().onMessage((peer, message) -> {
                List<byte[]> frames = Messages.frames(Messages.heap(message));
                frames.set(2, Majordomo.REPLY.getBytes(StandardCharsets.UTF_8));
                worker.socket().sendOrDrop(Messages.of(frames));
            });

            worker.send(Messages.of("", Majordomo.WORKER, Majordomo.READY, "echo"));
            broker.pass();
            for (int i = 0; i < QUESTIONS; i++) {
                String number = "number " + i;
                CompletableFuture<ZMTPMessage> answer = client.socket()
                        .requestAsync(Messages.of(Majordomo.CLIENT, "echo", "question", number), Patience.LIMIT);
                broker.pass(); // to the worker
                broker.pass(); // to the client
                assertThat(Messages.heap(TestSockets.get(answer)))
                        .isEqualTo(Messages.of(Majordomo.CLIENT, "echo", "question", number));
            }
        }
    }

    private static String text(byte[] frame) {
        return new String(frame, StandardCharsets.UTF_8);
    }
}
