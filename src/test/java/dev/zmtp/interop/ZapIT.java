package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.zap.ZMTPZapClient;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.zeromq.ZAuth;

/** ZAP handlers of other implementations decide which peers our server accepts. */
class ZapIT {

    private static final Duration SHORT = Duration.ofMillis(200);
    private static final ZMTPMessage MESSAGE = Messages.of("hello", "");

    /** Our server, the connection over which it asks, and our clients. */
    private static final class Service implements AutoCloseable {

        private final Security security;
        private final EventLoops loops = new EventLoops(1);
        private final OurSide ourSide = new OurSide();
        private final ZMTPZapClient zap;
        private final int port;

        Service(Security security, Duration patience) {
            this.security = security;
            this.zap = new ZMTPZapClient(patience);
            ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER);
            this.port = ourSide.listen(
                    security.server(config, zap).domain(Security.DOMAIN).build());
        }

        /** Connects to a ZAP handler, and returns when it can be asked. */
        Channel ask(int zapPort) {
            ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
            Channel channel = new Bootstrap()
                    .group(loops.group())
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel created) {
                            created.pipeline().addLast(codec, zap);
                        }
                    })
                    .connect(InetAddress.getLoopbackAddress(), zapPort)
                    .syncUninterruptibly()
                    .channel();
            codec.session().handshakeFuture().syncUninterruptibly();
            // The future is done a little before the client knows.
            channel.eventLoop().submit(() -> {}).syncUninterruptibly();
            return channel;
        }

        private static ZMTPConfig.Builder client() {
            return ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).localIdentity("me");
        }

        /** The client of the right credentials comes in and is {@code userId}. */
        void assertAccepts(String userId) {
            assertAccepts(security.client(client()).build(), userId);
        }

        void assertAccepts(ZMTPConfig config, String userId) {
            OurEnd client = ourSide.connect(port, config);
            OurEnd server = ourSide.accept();
            client.handshake();
            server.handshake();
            assertThat(server.session().userId()).isEqualTo(userId);
            client.write(MESSAGE);
            assertThat(server.message()).isEqualTo(MESSAGE);
            client.channel().close().syncUninterruptibly();
        }

        /** The client of the wrong credentials does not come in. */
        void assertDenies(String reason) {
            assertRefuses(
                    security.stranger(client()).build(),
                    "authentication: 400, " + reason,
                    ZMTPException.Code.PEER_ERROR,
                    "refused by the peer: 400");
        }

        /** Not even the client of the right credentials comes in, for now. */
        void assertFailsForNow(String reason) {
            assertRefuses("authentication: 300, " + reason, ZMTPException.Code.CLOSED, "");
        }

        void assertRefuses(String reason, ZMTPException.Code clients, String told) {
            assertRefuses(security.client(client()).build(), reason, clients, told);
        }

        private void assertRefuses(ZMTPConfig config, String reason, ZMTPException.Code clients, String told) {
            OurEnd client = ourSide.connect(port, config);
            assertFailure(ourSide.accept(), ZMTPException.Code.AUTHENTICATION, reason);
            assertFailure(client, clients, told);
        }

        private static void assertFailure(OurEnd end, ZMTPException.Code code, String message) {
            assertThat(end.handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(code))
                    .hasMessageContaining(message);
            assertThat(end.next(String.class)).isEqualTo(OurEnd.CLOSED);
        }

        @Override
        public void close() {
            ourSide.close();
            loops.close();
        }
    }

    static List<Arguments> everyHandlerAndMechanism() {
        return Every.combinationOf(PeerKind.values(), Security.values());
    }

    @Test
    void zauthOfJeroMqDecidesAboutPasswords(@TempDir Path directory) throws IOException {
        Path passwords = Files.writeString(directory.resolve("passwords"), Security.USER + "=" + Security.PASSWORD);
        try (Service service = new Service(Security.PLAIN, Patience.LIMIT);
                JeroMqPeer peer = new JeroMqPeer();
                ZAuth zauth = peer.zauth()) {
            zauth.configurePlain("*", passwords.toString());
            service.ask(peer.zapProxy());

            service.assertAccepts(Security.USER);
            service.assertDenies("NO ACCESS");
            service.assertAccepts(Security.USER);
        }
    }

    @Test
    void zauthOfJeroMqDecidesAboutOurSavedKeys(@TempDir Path directory) throws IOException {
        Security.CLIENT.publicKey().save(directory.resolve("client.pub"));
        try (Service service = new Service(Security.CURVE, Patience.LIMIT);
                JeroMqPeer peer = new JeroMqPeer();
                ZAuth zauth = peer.zauth()) {
            zauth.configureCurve(directory.toString());
            service.ask(peer.zapProxy());

            service.assertAccepts(Security.CLIENT.publicKey().z85());
            service.assertDenies("NO ACCESS");
        }
    }

    @Test
    void zauthOfJeroMqThatAllowsAnyKeyAcceptsStrangers() {
        try (Service service = new Service(Security.CURVE, Patience.LIMIT);
                JeroMqPeer peer = new JeroMqPeer();
                ZAuth zauth = peer.zauth()) {
            zauth.configureCurve(ZAuth.CURVE_ALLOW_ANY);
            service.ask(peer.zapProxy());

            service.assertAccepts(Security.CURVE.stranger(Service.client()).build(), "");
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("everyHandlerAndMechanism")
    void aHandlerSeesTheRequestAndDecides(PeerKind kind, Security security) {
        Queue<ZapRequest> requests = new ConcurrentLinkedQueue<>();
        try (Service service = new Service(security, Patience.LIMIT);
                PeerContext peer = kind.open()) {
            peer.zapHandler(request -> {
                requests.add(request);
                return request.credentials().equals(security.credentials())
                        ? ZapReply.accept("number one")
                        : ZapReply.refuse(400);
            });
            service.ask(peer.zapProxy());

            service.assertAccepts("number one");
            // PLAIN asks before the client has announced its socket type and identity.
            String identity = security == Security.PLAIN ? "" : "me";
            assertThat(requests)
                    .containsExactly(new ZapRequest(
                            Security.DOMAIN, "127.0.0.1", identity, security.name(), security.credentials()));
            service.assertDenies("why");
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("everyHandlerAndMechanism")
    void everyStatusOfAHandlerIsPassedOn(PeerKind kind, Security security) {
        Queue<Integer> statuses = new ConcurrentLinkedQueue<>(List.of(300, 500));
        try (Service service = new Service(security, Patience.LIMIT);
                PeerContext peer = kind.open()) {
            peer.zapHandler(request -> ZapReply.refuse(statuses.remove()));
            service.ask(peer.zapProxy());

            service.assertFailsForNow("why");
            service.assertRefuses(
                    "authentication: 500, why", ZMTPException.Code.PEER_ERROR, "refused by the peer: 500");
        }
    }

    @ParameterizedTest
    @EnumSource
    void noPeerIsAcceptedWithoutAConnectionToAHandler(Security security) {
        try (Service service = new Service(security, Patience.LIMIT)) {
            service.assertFailsForNow("no ZAP handler is connected");
        }
    }

    @ParameterizedTest
    @EnumSource
    void noPeerIsAcceptedIfNoHandlerAnswersTheConnection(PeerKind kind) {
        try (Service service = new Service(Security.PLAIN, SHORT);
                PeerContext peer = kind.open()) {
            service.ask(peer.zapProxy());

            service.assertFailsForNow("the ZAP handler did not reply in time");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEndedHandlerMayBeReplaced(PeerKind kind) {
        try (Service service = new Service(Security.PLAIN, Patience.LIMIT)) {
            Channel connection;
            try (PeerContext peer = kind.open()) {
                peer.zapHandler(request -> ZapReply.accept("by the first"));
                connection = service.ask(peer.zapProxy());
                service.assertAccepts("by the first");
            }
            assertThat(connection.closeFuture().awaitUninterruptibly(Patience.LIMIT.toMillis()))
                    .isTrue();
            for (int turn = 0; turn < 2; turn++) { // after which the client has been notified of that, too
                connection.eventLoop().submit(() -> {}).syncUninterruptibly();
            }
            service.assertFailsForNow("no ZAP handler is connected");

            try (PeerContext peer = kind.open()) {
                peer.zapHandler(request -> ZapReply.accept("by the second"));
                service.ask(peer.zapProxy());
                service.assertAccepts("by the second");
            }
        }
    }
}
