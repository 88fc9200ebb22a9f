package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.examples.CustomCodec.Reading;
import dev.zmtp.examples.CustomCodec.ReadingDecoder;
import dev.zmtp.examples.CustomCodec.ReadingEncoder;
import dev.zmtp.testing.CodecPair;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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
        BlockingQueue<String> replies = new LinkedBlockingQueue<>();
        Channel router = open(EchoRouter.bind(group, ANY_PORT));
        Channel dealer = open(DealerClient.connect(
                group, router.localAddress(), DealerClient.newSession(), reply -> replies.add(reply.toString())));

        DealerClient.send(dealer, "one");
        DealerClient.send(dealer, "two");
        dealer.flush();

        assertThat(next(replies)).isEqualTo("ZMTPMessage{[\"request\",\"one\"]}");
        assertThat(next(replies)).isEqualTo("ZMTPMessage{[\"request\",\"two\"]}");
    }

    @Test
    void aSubscriberGetsTheTopicsItAskedForAndNoOthers() throws InterruptedException {
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> weather = new LinkedBlockingQueue<>();
        BlockingQueue<String> everything = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(subscriptions::add);
        Channel pub = open(publisher.bind(group, ANY_PORT));
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
    void whoSubscribedTwiceAndCancelsOnceGetsNothingMore() throws InterruptedException {
        BlockingQueue<ZMTPSubscription> subscriptions = new LinkedBlockingQueue<>();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        PubSub.Publisher publisher = new PubSub.Publisher(subscriptions::add);
        Channel pub = open(publisher.bind(group, ANY_PORT));
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
                    .contains("reading: 9 octets in frame 2 (expected: a place and a double)");
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

        assertThat(next(answers)).startsWith("refused by the peer: 400");
    }

    @Test
    void aPeerOfTheWrongTypeIsRefused() throws InterruptedException {
        Channel router = open(EchoRouter.bind(group, ANY_PORT));
        Channel push = open(PushPull.connectPush(group, router.localAddress(), 1));

        assertThat(push.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
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
