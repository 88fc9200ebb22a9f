package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.within;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.examples.CustomCodec.Reading;
import dev.zmtp.examples.CustomCodec.ReadingDecoder;
import dev.zmtp.examples.CustomCodec.ReadingEncoder;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryServerSocket;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.OwnHost;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.EventExecutor;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each example, run on loopback. */
@Tag("netty-4.2-only")
@Timeout(60)
class ExamplesTest {

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());

    @AfterEach
    void endAllConnections() throws InterruptedException {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    @Test
    void aRouterEchoesWhatADealerSends() throws InterruptedException {
        int requests = 50_000; // more than the channels hold, so that both sides have to wait
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        Channel router = open(EchoRouter.bind(group, NioServerSocketChannel.class, ANY_PORT));

        Channel dealer = open(
                DealerClient.connect(group, router.localAddress(), requests, answer -> answers.add(answer.toString())));

        assertThat(dealer.closeFuture().await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(answers).hasSize(requests);
        for (int i = 1; i <= requests; i++) {
            assertThat(answers.remove()).isEqualTo("ZMTPMessage{[\"request\",\"number " + i + "\"]}");
        }
    }

    @Test
    void aRouterEchoesThroughTls(@TempDir Path directory) throws Exception {
        Certificates certificate = Certificates.make(directory, "server"); // for the host "localhost"
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        int port = bindTls(group, certificate);

        open(OverTls.connect(group, trusting(certificate), "localhost", port, m -> answers.add(m.toString())));

        assertThat(next(answers)).isEqualTo("ZMTPMessage{[\"request\",\"number 1\"]}");
    }

    @Test
    void aClientDoesNotTalkThroughTlsToAServerOfAnotherName(@TempDir Path directory) throws Exception {
        Certificates certificate = Certificates.make(directory, "server");
        SslContext trusting = trusting(certificate);
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        // The server's end can still be open, and have its greeting, when the client's has closed.
        try (EventLoops loops = EventLoops.resting(2)) {
            int port = bindTls(loops.group(), certificate);

            Channel client = open(OverTls.connect(
                    loops.group(), trusting, "127.0.0.1", port, answer -> answers.add(answer.toString())));

            assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(answers).isEmpty();
    }

    private static int bindTls(EventLoopGroup group, Certificates certificate) throws Exception {
        SslContext context = SslContextBuilder.forServer(certificate.keys()).build();
        Channel server = open(OverTls.serve(group, context, 0));
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static SslContext trusting(Certificates certificate) throws Exception {
        return OverTls.clientContext(certificate.certificate());
    }

    @Test
    void aRouterEchoesThroughSharedMemory(@TempDir Path directory) throws InterruptedException {
        SharedMemoryAddress address = new SharedMemoryAddress(directory.resolve("echo"));
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        open(SharedMemory.bind(group, address));
        open(SharedMemory.connect(group, address, answer -> answers.add(answer.toString())));
        assertThat(next(answers)).isEqualTo("ZMTPMessage{[\"request\",\"number 1\"]}");
    }

    @Test
    void threadsThatBlockEchoThroughSharedMemory(@TempDir Path directory) throws Exception {
        SharedMemoryAddress address = new SharedMemoryAddress(directory.resolve("lines"));
        Thread serving;
        try (SharedMemoryServerSocket server = SharedMemoryServerSocket.bind(address)) {
            serving = new Thread(() ->
                    assertThatCode(() -> BlockingSharedMemory.serve(server)).doesNotThrowAnyException());
            serving.start();
            assertThat(BlockingSharedMemory.ask(address, "hello")).isEqualTo("hello");
        }
        serving.join();
    }

    @Test
    void aMessageGoesToThePeerThatItsFirstFrameNames() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(new NamedPeers(NamedPeers.settings().build()).bind(group, ANY_PORT));
        Channel alice = holder("alice", router.localAddress(), received);
        Channel bob = holder("bob", router.localAddress(), received);

        alice.writeAndFlush(ZMTPMessage.fromUTF8("bob", "", "hello"));
        assertThat(next(received)).isEqualTo("bob got ZMTPMessage{[\"alice\",\"\",\"hello\"]}");

        bob.write(ZMTPMessage.fromUTF8("carol", "there is none"));
        bob.writeAndFlush(ZMTPMessage.fromUTF8("alice"));
        assertThat(next(received)).isEqualTo("alice got ZMTPMessage{[\"bob\"]}");
    }

    @Test
    void aNameThatIsTakenIsRefused() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(new NamedPeers(NamedPeers.settings().build()).bind(group, ANY_PORT));
        Channel alice = holder("alice", router.localAddress(), received);

        Channel impostor = connectAs("alice", router.localAddress(), received);

        assertThat(impostor.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        alice.writeAndFlush(ZMTPMessage.fromUTF8("alice", "still here"));
        assertThat(next(received)).isEqualTo("alice got ZMTPMessage{[\"alice\",\"still here\"]}");
    }

    @Test
    void theNameOfAPeerThatIsGoneWithoutAWordIsFreeAfterTheHeartbeatTimeout() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        ZMTPConfig config = NamedPeers.settings()
                .heartbeatInterval(Duration.ofMillis(50))
                .heartbeatTimeout(Duration.ofMillis(50))
                .build();
        Channel router = open(new NamedPeers(config).bind(group, ANY_PORT));
        Channel gone = holder("alice", router.localAddress(), received);
        gone.pipeline().remove(ZMTPCodec.class); // answers no PING from now on, and does not close

        Channel alice;
        do { // as a client that reconnects would
            alice = connectAs("alice", router.localAddress(), received);
            alice.writeAndFlush(ZMTPMessage.fromUTF8("alice", "here again"));
        } while (received.poll(200, TimeUnit.MILLISECONDS) == null);

        assertThat(gone.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aUserTakesItsNameOverFromItsOldConnection() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(new NamedPeers(withPasswords()).bind(group, ANY_PORT));
        Channel old = awaitName("alice", connectAs("alice", "user", router.localAddress(), received), received);

        Channel alice = connectAs("alice", "user", router.localAddress(), received);

        assertThat(old.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        alice.writeAndFlush(ZMTPMessage.fromUTF8("alice", "here again"));
        assertThat(next(received)).isEqualTo("alice got ZMTPMessage{[\"alice\",\"here again\"]}");
        assertThat(alice.isActive()).isTrue();
    }

    @Test
    void anotherUserDoesNotTakeANameOver() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(new NamedPeers(withPasswords()).bind(group, ANY_PORT));
        Channel alice = awaitName("alice", connectAs("alice", "user", router.localAddress(), received), received);

        Channel impostor = connectAs("alice", "other user", router.localAddress(), received);

        assertThat(impostor.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        alice.writeAndFlush(ZMTPMessage.fromUTF8("alice", "still here"));
        assertThat(next(received)).isEqualTo("alice got ZMTPMessage{[\"alice\",\"still here\"]}");
    }

    private static ZMTPConfig withPasswords() {
        return NamedPeers.settings()
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswordAuthenticator.of(Map.of("user", "secret", "other user", "secret")))
                .build();
    }

    private Channel holder(String name, SocketAddress router, BlockingQueue<String> received)
            throws InterruptedException {
        return awaitName(name, connectAs(name, router, received), received);
    }

    /** The router may end the handshake after its peer does. It knows the name when the peer can write to itself. */
    private static Channel awaitName(String name, Channel peer, BlockingQueue<String> received)
            throws InterruptedException {
        peer.writeAndFlush(ZMTPMessage.fromUTF8(name, "it is me"));
        assertThat(next(received)).isEqualTo(name + " got ZMTPMessage{[\"" + name + "\",\"it is me\"]}");
        return peer;
    }

    /** Connects a DEALER of this name, whose messages go to {@code received}, and waits for its handshake. */
    private Channel connectAs(String name, SocketAddress router, BlockingQueue<String> received)
            throws InterruptedException {
        return connect(
                ZMTPConfig.builder().socketType(DEALER).localIdentity(name).build(), name, router, received);
    }

    /** The same, with a user's password. */
    private Channel connectAs(String name, String user, SocketAddress router, BlockingQueue<String> received)
            throws InterruptedException {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(DEALER)
                .localIdentity(name)
                .mechanism(ZMTPPlain.client(user, "secret"))
                .build();
        return connect(config, name, router, received);
    }

    private Channel connect(ZMTPConfig config, String name, SocketAddress router, BlockingQueue<String> received)
            throws InterruptedException {
        ZMTPSession session = ZMTPSession.from(config);
        Channel channel = open(new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(session), new SimpleChannelInboundHandler<ZMTPMessage>() {
                            @Override
                            protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
                                received.add(name + " got " + message);
                            }
                        });
                    }
                })
                .connect(router));
        session.handshakeFuture().sync();
        return channel;
    }

    @Test
    void aSubscriberGetsItsTopicsAndNoOthers() throws InterruptedException {
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> weather = new LinkedBlockingQueue<>();
        BlockingQueue<String> everything = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(group.next(), subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        open(PubSub.subscribe(group, pub.localAddress(), "weather.", message -> weather.add(message.toString())));
        open(PubSub.subscribe(group, pub.localAddress(), "", message -> everything.add(message.toString())));
        next(subscriptions);
        next(subscriptions);

        publisher.publish(ZMTPMessage.fromUTF8("sports", "2:1"));
        publisher.publish(ZMTPMessage.fromUTF8("weather.bergen", "rain"));

        assertThat(next(weather)).isEqualTo("ZMTPMessage{[\"weather.bergen\",\"rain\"]}");
        assertThat(next(everything)).isEqualTo("ZMTPMessage{[\"sports\",\"2:1\"]}");
        assertThat(next(everything)).isEqualTo("ZMTPMessage{[\"weather.bergen\",\"rain\"]}");
    }

    @Test
    void aSubscriberThatSubscribesTwiceAndCancelsOnceGetsNothingMore() throws InterruptedException {
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(group.next(), subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        Channel sub = open(PubSub.subscribe(group, pub.localAddress(), "a", m -> received.add(m.toString())));
        next(subscriptions);
        sub.write(ZMTPSubscription.subscribe("a"));
        sub.write(ZMTPSubscription.cancel("a"));
        sub.writeAndFlush(ZMTPSubscription.subscribe("z"));
        while (!next(subscriptions).equals(ZMTPSubscription.subscribe("z"))) {
            // the others come before
        }

        publisher.publish(ZMTPMessage.fromUTF8("a"));
        publisher.publish(ZMTPMessage.fromUTF8("z"));

        assertThat(next(received)).isEqualTo("ZMTPMessage{[\"z\"]}");
    }

    /** More than are served in a turn, and more bytes than are kept for slow ones. */
    @Test
    void aLargeMessageReachesManySubscribers() throws InterruptedException {
        int subscribers = 100;
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> received = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(group.next(), subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        for (int i = 0; i < subscribers; i++) {
            open(PubSub.subscribe(group, pub.localAddress(), "a", message -> received.add(message.size())));
            next(subscriptions);
        }

        for (int i = 0; i < 2; i++) {
            publisher.publish(
                    ZMTPMessage.from(Unpooled.copiedBuffer("a", UTF_8), Unpooled.wrappedBuffer(new byte[400_000])));
            for (int j = 0; j < subscribers; j++) {
                assertThat(next(received)).isEqualTo(2);
            }
        }

        assertThat(publisher.dropped()).isZero();
    }

    @Test
    void everyMessageOfABurstReachesAFastSubscriberInOrder() throws InterruptedException {
        int burst = 10_000;
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(group.next(), subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        open(PubSub.subscribe(group, pub.localAddress(), "a", message -> received.add(number(message))));
        next(subscriptions);

        for (int i = 0; i < burst; i++) {
            assertThat(publisher.publish(numbered("a", i))).isTrue();
        }

        for (int i = 0; i < burst; i++) {
            assertThat(next(received)).isEqualTo(Integer.toString(i));
        }
        assertThat(publisher.dropped()).isZero();
    }

    @Test
    void aSubscriberThatPausesDuringABurstMissesNothing() throws InterruptedException {
        int burst = 10_000; // 10 MB: more than the sockets take
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        EventLoop loop = group.next();
        PubSub.Publisher publisher = new PubSub.Publisher(loop, subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        Channel sub = open(PubSub.subscribe(group, pub.localAddress(), "a", message -> received.add(number(message))));
        next(subscriptions);
        sub.config().setAutoRead(false);

        for (int i = 0; i < burst; i++) {
            assertThat(publisher.publish(numbered("a", i))).isTrue();
        }
        while (publisher.isBusy()) {
            loop.submit(() -> {}).sync();
        }
        sub.config().setAutoRead(true);

        for (int i = 0; i < burst; i++) {
            assertThat(next(received)).isEqualTo(Integer.toString(i));
        }
        assertThat(publisher.dropped()).isZero();
    }

    @Test
    void aSlowSubscriberMissesMessagesWithACountAndAFastOneMissesNone() throws InterruptedException {
        int burst = 10_000;
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        EventLoop loop = group.next();
        PubSub.Publisher publisher = new PubSub.Publisher(loop, subscriptions::add);
        Channel pub = open(publisher.bind(ANY_PORT));
        AtomicInteger receivedBySlow = new AtomicInteger();
        Channel slow =
                open(PubSub.subscribe(group, pub.localAddress(), "", message -> receivedBySlow.incrementAndGet()));
        next(subscriptions);
        slow.config().setAutoRead(false);
        int sent = 0;
        while (publisher.dropped() == 0) {
            if (publisher.publish(numbered("b", sent))) {
                sent++;
            } else {
                loop.submit(() -> {}).sync(); // the loop is busy
            }
        }
        while (publisher.isBusy()) {
            loop.submit(() -> {}).sync();
        }
        open(PubSub.subscribe(group, pub.localAddress(), "a", message -> received.add(number(message))));
        next(subscriptions);

        for (int i = 0; i < burst; i++) {
            assertThat(publisher.publish(numbered("a", i))).isTrue();
        }

        for (int i = 0; i < burst; i++) {
            assertThat(next(received)).isEqualTo(Integer.toString(i));
        }
        slow.config().setAutoRead(true);
        long expected = sent + burst - publisher.dropped();
        while (receivedBySlow.get() < expected) {
            slow.eventLoop().submit(() -> {}).sync();
        }
        assertThat(publisher.dropped()).isPositive();
    }

    @Test
    void aPublisherThatIsFasterThanItsLoopIsRefused() throws Exception {
        EventLoop loop = group.next();
        PubSub.Publisher publisher = new PubSub.Publisher(loop, subscription -> {});

        Integer accepted = loop.submit(() -> {
                    int i = 0;
                    while (publisher.publish(numbered("a", i))) { // the loop is here, and sends nothing meanwhile
                        i++;
                    }
                    return i;
                })
                .get();

        assertThat(accepted).isEqualTo(PubSub.MAX_WAITING);
        while (publisher.isBusy()) {
            loop.submit(() -> {}).sync();
        }
    }

    private static ZMTPMessage numbered(String topic, int number) {
        return ZMTPMessage.fromUTF8(topic, Integer.toString(number), "x".repeat(1000));
    }

    private static String number(ZMTPMessage message) {
        return message.frame(1).toString(StandardCharsets.UTF_8);
    }

    @Test
    void everyJobArrivesInOrder() throws Exception {
        long jobs = 300_000;
        AtomicLong expected = new AtomicLong();
        CompletableFuture<Long> done = new CompletableFuture<>();
        Channel pull = open(PushPull.bindPull(group, ANY_PORT, job -> {
            if (job != expected.getAndIncrement() || job == jobs - 1) {
                done.complete(job);
            }
        }));

        open(PushPull.connectPush(group, pull.localAddress(), jobs));

        assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo(jobs - 1);
    }

    @Test
    void aRecordCrossesTheWireAndComesBackChanged() throws InterruptedException {
        BlockingQueue<Reading> replies = new LinkedBlockingQueue<>();
        Channel server = open(CustomCodec.serve(group, ANY_PORT));
        Channel client = open(CustomCodec.connect(group, server.localAddress(), replies::add));

        client.writeAndFlush(new Reading("Tromsø", 10));

        Reading reply = next(replies);
        assertThat(reply.place()).isEqualTo("Tromsø");
        assertThat(reply.degrees()).isCloseTo(50, within(1e-9));
    }

    @Test
    void aRecordThatIsMalformedEndsTheConnection() {
        ZMTPCodec reader = ZMTPCodec.builder()
                .socketType(ROUTER)
                .encoder(ReadingEncoder.class)
                .decoder(ReadingDecoder.class)
                .build();
        try (CodecPair peers = new CodecPair(ZMTPCodec.of(DEALER), reader).exchange()) {
            peers.left.channel.writeAndFlush(ZMTPMessage.fromUTF8("a place", "no double"));
            peers.exchange();

            assertThat(peers.right.failures)
                    .singleElement()
                    .isInstanceOf(ZMTPException.class)
                    .asString()
                    .contains("reading: 9 bytes in frame 2 (expected: a place and a double)");
            assertThat(peers.right.channel.isActive()).isFalse();
        }
    }

    @Test
    void aServerTalksToTheClientWhoseKeyItKnows(@TempDir Path keys) throws Exception {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        SecureRouter.makeKeys(keys);
        Channel server = open(SecureRouter.serve(group, ANY_PORT, SecureRouter.server(keys)));

        open(SecureRouter.connect(group, server.localAddress(), SecureRouter.client(keys), answers::add));

        assertThat(next(answers)).isEqualTo("ZMTPMessage{[\"hello, the client\"]}");
    }

    @Test
    void aServerTalksToNoOtherClient(@TempDir Path keys, @TempDir Path others) throws Exception {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        SecureRouter.makeKeys(keys);
        SecureRouter.makeKeys(others);
        Files.copy(keys.resolve("server.key"), others.resolve("server.key"), StandardCopyOption.REPLACE_EXISTING);
        Channel server = open(SecureRouter.serve(group, ANY_PORT, SecureRouter.server(keys)));

        open(SecureRouter.connect(group, server.localAddress(), SecureRouter.client(others), answers::add));

        assertThat(next(answers)).startsWith("ZMTPHandshakeFailure").contains("refused by the peer: 400");
    }

    @Test
    void aPeerOfTheWrongTypeIsRefused() throws InterruptedException {
        Channel router = open(EchoRouter.bind(group, NioServerSocketChannel.class, ANY_PORT));
        Channel push = open(PushPull.connectPush(group, router.localAddress(), 1));

        assertThat(push.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void everyAnswerArrivesIfTheServerShutsDown() throws InterruptedException {
        int answers = 20_000;
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        GracefulShutdown server = new GracefulShutdown(group, ANY_PORT);
        Channel client = connectAs("client", server.address(), received);
        client.writeAndFlush(ZMTPMessage.fromUTF8(Integer.toString(answers)));
        assertThat(next(received)).isEqualTo("client got ZMTPMessage{[\"1\"]}");

        server.end();

        assertThat(server.ended().await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        awaitInactive(client); // the last messages come before that, and may come after the closeFuture
        assertThat(received).hasSize(answers - 1);
    }

    @Test
    void everyAnswerArrivesIfTheServerShutsDownWhileTheClientIsSending() throws InterruptedException {
        int answers = 20_000;
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        GracefulShutdown server = new GracefulShutdown(group, ANY_PORT);
        Channel client = connectAs("client", server.address(), received);
        client.writeAndFlush(ZMTPMessage.fromUTF8(Integer.toString(answers)));
        assertThat(next(received)).isEqualTo("client got ZMTPMessage{[\"1\"]}");
        client.eventLoop().execute(() -> ask(client));

        server.end();

        assertThat(server.ended().await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        awaitInactive(client); // the last messages come before that, and may come after the closeFuture
        assertThat(received).hasSize(answers - 1);
    }

    /** Waits until a channel that is closed is inactive, too: the event follows the close as a task of its own. */
    private static void awaitInactive(Channel closed) throws InterruptedException {
        closed.eventLoop().submit(() -> {}).sync(); // the close is over
        closed.eventLoop().submit(() -> {}).sync(); // and so is the task that it left
    }

    /** Asks for no answers, again and again. */
    private static void ask(Channel client) {
        if (client.isActive()) {
            for (int i = 0; i < 100 && client.isWritable(); i++) {
                client.write(ZMTPMessage.fromUTF8("0"), client.voidPromise());
            }
            client.flush();
            // Not a task for now: one that leaves another keeps the loop from reading, for a second each time.
            client.eventLoop().schedule(() -> ask(client), 1, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void aNumberThatOverflowsEndsItsConnection() throws InterruptedException {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        GracefulShutdown server = new GracefulShutdown(group, ANY_PORT);
        Channel client = connectAs("client", server.address(), received);

        client.write(ZMTPMessage.fromUTF8(Integer.toString(Integer.MAX_VALUE)));
        client.writeAndFlush(ZMTPMessage.fromUTF8("1"));

        assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** On an address of its own: on another, a program beside this one may get the port as soon as it is free. */
    @Test
    @Tag("linux") // which has all of 127.0.0.0/8
    void aServerThatShutsDownAcceptsNoConnection() throws InterruptedException {
        GracefulShutdown server = new GracefulShutdown(group, new InetSocketAddress(OwnHost.of(1), 0));
        SocketAddress address = server.address();

        server.end();

        assertThat(server.ended().await(10, TimeUnit.SECONDS)).isTrue();
        awaitSelect();
        ChannelFuture late = DealerClient.connect(group, address, 1, message -> {});
        assertThat(late.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(late.cause()).isInstanceOf(ConnectException.class);
    }

    /** NIO listens on a closed channel until the next select of its event loop, which precedes any later timer. */
    private void awaitSelect() throws InterruptedException {
        for (EventExecutor loop : group) {
            loop.schedule(() -> {}, 1, TimeUnit.MILLISECONDS).sync();
        }
    }

    @Test
    void answersOfWorkersArriveInTheOrderOfTheRequests() throws InterruptedException {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        CountDownLatch second = new CountDownLatch(1);
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(OffLoopWorker.bind(group, ANY_PORT, workers, request -> {
            if (request.equals("2")) {
                second.countDown(); // the first answer is ready after the second
            } else if (!await(second)) {
                throw new IllegalStateException("the second request was not worked on");
            }
            return "answer " + request;
        }));
        Channel client = connectAs("client", router.localAddress(), received);

        client.write(ZMTPMessage.fromUTF8("envelope", "", "1"));
        client.writeAndFlush(ZMTPMessage.fromUTF8("2"));

        assertThat(next(received)).isEqualTo("client got ZMTPMessage{[\"envelope\",\"\",\"answer 1\"]}");
        assertThat(next(received)).isEqualTo("client got ZMTPMessage{[\"answer 2\"]}");
        workers.shutdown();
        assertThat(workers.awaitTermination(30, TimeUnit.SECONDS)).isTrue(); // a request is released after its answer
    }

    @Test
    void aClientIsNotReadFromWhileTheWorkersAreBehind() throws InterruptedException {
        ExecutorService workers = Executors.newSingleThreadExecutor();
        CountDownLatch permission = new CountDownLatch(1);
        CountDownLatch full = new CountDownLatch(1);
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Channel router = open(OffLoopWorker.bind(group, ANY_PORT, workers, request -> {
            await(permission);
            return "done";
        }));
        Channel client = connectAs("client", router.localAddress(), received);
        AtomicInteger sent = new AtomicInteger();
        client.eventLoop().execute(() -> fill(client, sent, full));

        assertThat(full.await(30, TimeUnit.SECONDS)).isTrue();
        permission.countDown();

        for (int i = 0; i < sent.get(); i++) {
            assertThat(next(received)).isEqualTo("client got ZMTPMessage{[\"done\"]}");
        }
        workers.shutdown();
        assertThat(workers.awaitTermination(30, TimeUnit.SECONDS)).isTrue(); // a request is released after its answer
    }

    /** Sends until the channel has been full for a while, as nobody reads at its other end. */
    private static void fill(Channel client, AtomicInteger sent, CountDownLatch full) {
        while (client.isWritable()) {
            client.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(10_000)));
            sent.incrementAndGet();
        }
        client.eventLoop()
                .schedule(
                        () -> {
                            if (client.isWritable()) {
                                fill(client, sent, full);
                            } else {
                                full.countDown();
                            }
                        },
                        200,
                        TimeUnit.MILLISECONDS);
    }

    @Test
    void manyThreadsSendAndWaitWhileTheConnectionIsFull() throws Exception {
        int threads = 4;
        int each = 20_000;
        CountDownLatch received = new CountDownLatch(threads * each);
        Channel pull = open(PushPull.bindPull(group, ANY_PORT, job -> received.countDown()));
        BlockingSender sender = new BlockingSender(group, pull.localAddress());
        AtomicInteger failures = new AtomicInteger();

        for (int i = 0; i < threads; i++) {
            new Thread(() -> {
                        try {
                            for (int j = 0; j < each; j++) {
                                sender.send(job(sender.channel()));
                            }
                        } catch (Exception e) {
                            failures.incrementAndGet();
                        }
                    })
                    .start();
        }

        assertThat(received.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).hasValue(0);
    }

    @Test
    void aSlowReceiverGetsEveryMessageOfASenderThatEnds() throws Exception {
        int threads = 4;
        int each = 20_000;
        CountDownLatch received = new CountDownLatch(threads * each);
        Channel pull = open(new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_RCVBUF, 4096)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(PULL), new SlowReceiver(received));
                    }
                })
                .bind(ANY_PORT));

        BlockingSender.sendAll(pull.localAddress(), threads, each);

        assertThat(received.await(30, TimeUnit.SECONDS))
                .as("%d missing", received.getCount())
                .isTrue();
    }

    /** Reads once in a millisecond. */
    private static final class SlowReceiver extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final CountDownLatch received;

        SlowReceiver(CountDownLatch received) {
            this.received = received;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            received.countDown();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(false);
            ctx.executor().schedule(() -> ctx.channel().config().setAutoRead(true), 1, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void aThreadThatWaitsToSendIsWokenByTheEndOfTheConnection() throws Exception {
        Channel deaf = open(new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(PULL), new ChannelInboundHandlerAdapter() {
                            @Override
                            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                                ctx.channel().config().setAutoRead(false); // after the handshake
                            }
                        });
                    }
                })
                .bind(ANY_PORT));
        BlockingSender sender = new BlockingSender(group, deaf.localAddress());
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        AtomicInteger sent = new AtomicInteger();
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    sender.send(job(sender.channel()));
                    sent.incrementAndGet();
                }
            } catch (Exception e) {
                failure.complete(e);
            }
        });
        thread.start();
        int before;
        do { // until nothing moves any more: the socket is full, not only the queue of the event loop
            before = sent.get();
            sender.channel()
                    .eventLoop()
                    .schedule(() -> {}, 200, TimeUnit.MILLISECONDS)
                    .sync();
        } while (sent.get() != before || thread.getState() != Thread.State.WAITING);

        sender.channel().close();

        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(ClosedChannelException.class);
    }

    private static ZMTPMessage job(Channel channel) {
        return ZMTPMessage.from(channel.alloc().buffer(Long.BYTES).writeLong(1));
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    private static Channel open(ChannelFuture future) throws InterruptedException {
        return future.sync().channel();
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(10, TimeUnit.SECONDS);
        assertThat(taken).as("arrived within 10 s").isNotNull();
        return taken;
    }
}
