package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.CodecPair;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client's line of {@code docs/securing-a-service.md}, on both lines of Netty. */
class TlsClientTest {

    private static final ZMTPConfig DEALERS =
            ZMTPConfig.builder().socketType(DEALER).build();

    private static SslContext server;
    private static SslContext client;

    @BeforeAll
    static void makeACertificateForLocalhost(@TempDir Path directory) throws Exception {
        Certificates certificates = Certificates.make(directory, "server");
        server = SslContextBuilder.forServer(certificates.keys()).build();
        client = TlsClient.trusting(certificates.certificate());
    }

    private static ChannelHandler adding(Consumer<Channel> handlers) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                handlers.accept(ch);
            }
        };
    }

    private static CodecPair connect(Consumer<Channel> clientHandlers) {
        ChannelHandler atServer =
                adding(ch -> ch.pipeline().addLast(server.newHandler(ch.alloc()), ZMTPCodec.of(ROUTER)));
        return new CodecPair(adding(clientHandlers), atServer).exchange();
    }

    private static void assertRefusedByTheClient(CodecPair peers, String reason) {
        assertThat(peers.left.events)
                .filteredOn(event -> event instanceof ZMTPHandshakeFailure)
                .singleElement()
                .isInstanceOfSatisfying(
                        ZMTPHandshakeFailure.class,
                        failure -> assertThat(failure.cause())
                                .isInstanceOf(SSLHandshakeException.class)
                                .hasMessageContaining(reason));
        for (CodecPair.Side end : List.of(peers.left, peers.right)) {
            assertThat(end.channel.isOpen()).isFalse();
            assertThat(end.events).noneMatch(event -> event instanceof ZMTPHandshakeSuccess);
        }
    }

    @Test
    void aServerWithTheRightNameIsAccepted() {
        try (CodecPair peers = connect(ch -> TlsClient.addHandlers(ch, client, "localhost", 5555, DEALERS))) {
            assertThat(peers.left.events).last().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.right.events).last().isInstanceOf(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aServerWhoseCertificateNamesAnotherHostIsRefused() {
        try (CodecPair peers = connect(ch -> TlsClient.addHandlers(ch, client, "service.example", 5555, DEALERS))) {
            assertRefusedByTheClient(peers, "service.example");
        }
    }

    @Test
    void withoutAHostEveryServerIsRefused() {
        try (CodecPair peers =
                connect(ch -> ch.pipeline().addLast(client.newHandler(ch.alloc()), ZMTPCodec.of(DEALER)))) {
            assertRefusedByTheClient(peers, "");
        }
    }
}
