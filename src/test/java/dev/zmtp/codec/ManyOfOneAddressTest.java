package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.testing.AddressedChannel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Honest clients behind one address, far away, that all come back when their server has restarted. A client that is
 * refused connects again, as clients do. Time is virtual.
 */
class ManyOfOneAddressTest {

    /** What a byte takes from one side to the other, and what a client waits before it connects again. */
    private static final Duration LINE = Duration.ofMillis(100);

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final String NAT = "198.51.100.7";

    private final ZMTPCurveKeyPair serverKeys = ZMTPCurveKeyPair.generate();
    private final ZMTPCurveKeyPair clientKeys = ZMTPCurveKeyPair.generate();
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private long now;

    @AfterEach
    void closeAll() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    private ZMTPCodec codec(boolean isServer, boolean curve) {
        ZMTPCodec.Builder codec = ZMTPCodec.builder().socketType(isServer ? ROUTER : DEALER);
        if (curve) {
            codec.handshakeExecutor(Runnable::run)
                    .mechanism(
                            isServer
                                    ? ZMTPCurve.server(serverKeys)
                                    : ZMTPCurve.client(serverKeys.publicKey(), clientKeys));
        }
        return (curve && isServer ? codec.authenticator(ZMTPAuthenticator.acceptAll()) : codec).build();
    }

    private <T extends EmbeddedChannel> T kept(T channel) {
        channels.add(channel);
        return channel;
    }

    private AddressedChannel silent(ZMTPHandshakeLimiter limiter, String address) {
        return kept(new AddressedChannel(address, 1 + channels.size() % 60_000, limiter, codec(true, false)));
    }

    /** A client that tries until it is through. */
    private final class Client {
        private final ZMTPHandshakeLimiter limiter;
        private final boolean curve;
        private final String address;
        private int ends;
        private @Nullable AddressedChannel server;
        private EmbeddedChannel client = new EmbeddedChannel();

        Client(ZMTPHandshakeLimiter limiter, boolean curve, String address) {
            this.limiter = limiter;
            this.curve = curve;
            this.address = address;
        }

        boolean isThrough() {
            return server != null && server.isOpen() && server.pipeline().get(ZMTPHandshakeLimiter.class) == null;
        }

        /** What happens in the time that a byte is on its way in one direction, and then in the other. */
        void passTime(boolean toServer) {
            if (isThrough()) {
                return;
            }
            if (server == null) {
                server = kept(new AddressedChannel(address, 1 + channels.size() % 60_000, limiter, codec(true, curve)));
                client = kept(new EmbeddedChannel(codec(false, curve)));
            } else if (!server.isOpen()) {
                server = null;
                ends++;
            } else if (toServer) {
                deliver(client, server);
            } else {
                deliver(server, client);
            }
        }

        private void deliver(EmbeddedChannel from, EmbeddedChannel to) {
            from.runPendingTasks();
            for (Object out = from.readOutbound(); out != null && to.isOpen(); out = from.readOutbound()) {
                to.writeInbound(out);
            }
        }
    }

    private List<Client> clients(int count, ZMTPHandshakeLimiter limiter, boolean curve) {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(new Client(limiter, curve, NAT));
        }
        return clients;
    }

    /** Returns the time until all are through, or what has passed if it is too much. */
    private Duration untilThrough(List<Client> clients, Duration atMost) {
        long start = now;
        boolean toServer = false;
        while (!clients.stream().allMatch(Client::isThrough) && now - start < atMost.toNanos()) {
            toServer = !toServer;
            for (Client client : clients) {
                client.passTime(toServer);
                now += LINE.toNanos() / clients.size();
            }
        }
        return Duration.ofNanos(now - start);
    }

    @ParameterizedTest
    @CsvSource({"1000, 1024, false, 2", "1000, 64, false, 20", "200, 1024, true, 2", "200, 32, true, 14"})
    void allAreThroughInSeconds(int count, int maxPerAddress, boolean curve, int seconds) {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4096, maxPerAddress, () -> now);
        List<Client> clients = clients(count, limiter, curve);
        assertThat(untilThrough(clients, Duration.ofMinutes(1))).isLessThan(Duration.ofSeconds(seconds));
        assertThat(clients).allMatch(Client::isThrough);
        assertThat(limiter.handshakeCount()).isZero();
    }

    @Test
    void theDefaultsLetAThousandIn() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter();
        List<Client> clients = clients(1000, limiter, false);
        untilThrough(clients, Duration.ofSeconds(2));
        assertThat(clients).allMatch(client -> client.isThrough() && client.ends == 0);
    }

    @Test
    void allAreThroughInSecondsIfTheyFillTheTotalFromManyAddresses() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(64, 64, () -> now);
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            clients.add(new Client(limiter, false, "198.51." + i / 250 + "." + (1 + i % 250)));
        }
        assertThat(untilThrough(clients, Duration.ofMinutes(1))).isLessThan(Duration.ofSeconds(12));
    }

    @Test
    void silentConnectionsOfTheAddressKeepAnHonestClientOutForTwoSecondsOnly() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4096, 64, () -> now);
        for (int i = 0; i < 64; i++) {
            silent(limiter, NAT);
        }
        List<Client> clients = clients(1, limiter, false);
        assertThat(untilThrough(clients, Duration.ofMinutes(1))).isBetween(PATIENCE, PATIENCE.plusSeconds(2));
    }

    @Test
    void connectionsThatSendAByteAtATimeKeepAnHonestClientOutForTwoSecondsOnly() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4096, 64, () -> now);
        List<AddressedChannel> slow = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            slow.add(silent(limiter, NAT));
        }
        for (int next : new int[] {0xff, 0, 0}) {
            slow.forEach(one -> one.writeInbound(one.alloc().buffer().writeByte(next)));
            now += Duration.ofSeconds(1).toNanos();
        }
        List<Client> clients = clients(1, limiter, false);
        untilThrough(clients, Duration.ofMinutes(1));
        assertThat(clients.get(0).ends).isZero();
    }

    /** As with PINGs of WebSocket, or requests for new keys of TLS. */
    @Test
    void connectionsThatAskForAnswersWithoutEndKeepAnHonestClientOutForSecondsOnly() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4096, 64, () -> now);
        List<AddressedChannel> asking = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            ChannelInboundHandlerAdapter answers = new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ctx.writeAndFlush(message);
                }
            };
            asking.add(kept(new AddressedChannel(NAT, 1 + i, limiter, answers, codec(true, false))));
        }
        for (int i = 0; i < 8; i++) {
            now += Duration.ofSeconds(1).toNanos();
            asking.forEach(one -> one.writeInbound(one.alloc().buffer().writeByte(0)));
        }

        List<Client> clients = clients(1, limiter, false);
        assertThat(untilThrough(clients, Duration.ofMinutes(1))).isLessThan(PATIENCE);
    }

    @Test
    void silentConnectionsOfSomeAddressesKeepNoOtherAddressOut() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(256, 64, () -> now);
        for (int i = 0; i < 256; i++) {
            silent(limiter, "192.0.2." + (1 + i / 64));
        }
        List<Client> clients = clients(1, limiter, false);
        untilThrough(clients, Duration.ofMinutes(1));
        assertThat(clients.get(0).ends).isZero();
        assertThat(limiter.handshakeCount()).isEqualTo(255);
    }

    @Test
    void aFloodOfTheAddressEndsNoHandshakeThatGoesOn() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4096, 64, () -> now);
        List<Client> clients = clients(32, limiter, false);
        clients.forEach(client -> client.passTime(true));
        for (int i = 0; i < 10_000 && !clients.stream().allMatch(Client::isThrough); i++) {
            boolean toServer = i % 200 < 100;
            if (i % 100 == 0) {
                clients.forEach(client -> client.passTime(toServer));
            }
            silent(limiter, NAT);
            now += Duration.ofMillis(1).toNanos();
        }
        assertThat(clients).allMatch(client -> client.isThrough() && client.ends == 0);
        assertThat(limiter.handshakeCount()).isLessThanOrEqualTo(64);
    }
}
