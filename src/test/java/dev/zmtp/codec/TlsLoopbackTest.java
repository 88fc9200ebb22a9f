package dev.zmtp.codec;

import static dev.zmtp.codec.Loopback.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.Loopback.End;
import dev.zmtp.codec.Loopback.Patient;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS between two sockets, where records are cut and joined as the network likes, and alerts cross. */
class TlsLoopbackTest {

    private static Certificates host;
    private static Certificates alice;
    private static Certificates stranger;

    private Loopback net;
    private final End client = new End(codec -> codec);
    private final End server = new End(codec -> codec);

    @BeforeAll
    static void makeCertificates(@TempDir Path dir) throws Exception {
        host = Certificates.make(dir, "host");
        alice = Certificates.make(dir, "alice");
        stranger = Certificates.make(dir, "stranger");
    }

    @BeforeEach
    void start(@TempDir Path dir) {
        net = new Loopback(Transport.NIO.kit(), Transport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        net.close();
    }

    private static SslContextBuilder serving() throws Exception {
        return SslContextBuilder.forServer(host.keys()).sslProvider(SslProvider.JDK);
    }

    private static SslContextBuilder trusting(Certificates trusted) throws Exception {
        return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trusted.certificate());
    }

    private static ChannelHandler tls(SslContextBuilder builder) throws SSLException {
        SslContext context = builder.build();
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addFirst(context.newHandler(ch.alloc(), "localhost", 5555));
            }
        };
    }

    private static void assertFailedOnce(End end) throws InterruptedException {
        assertThat(end.handshake()).isInstanceOf(ZMTPHandshakeFailure.class);
        end.assertClosed();
        assertThat(end.handshakes).isEmpty();
        assertThat(end.failures).isEmpty();
        assertThat(end.messages).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void messagesGoThereAndBack(String protocol) throws Exception {
        net.listen(tls(serving().protocols(protocol)), server.codec, server);
        Channel channel = net.connect(tls(trusting(host).protocols(protocol)), client.codec, client);
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            writes.add(client.write(i, i % 100 == 0 ? 200_000 : 4 + i % 3000)); // the first before any handshake
            if (i % 50 == 0) {
                channel.flush();
            }
        }
        channel.flush();
        for (int i = 0; i < 2000; i++) {
            ZMTPMessage message = await(server.messages);
            assertThat(message.frame(0).getInt(0)).isEqualTo(i);
            server.channel.writeAndFlush(message);
        }
        for (int i = 0; i < 2000; i++) {
            assertThat(client.number()).isEqualTo(i);
        }
        assertThat(writes).allMatch(ChannelFuture::isSuccess);
        SslHandler handler = channel.pipeline().get(SslHandler.class);
        assertThat(handler.engine().getSession().getProtocol()).isEqualTo(protocol);

        channel.close();
        server.assertClosed();
        client.assertClosed();
        assertThat(client.failures).isEmpty();
        assertThat(server.failures).isEmpty();
    }

    @Test
    void theApplicationKnowsThePeersCertificateWhenTheHandshakeIsDone() throws Exception {
        BlockingQueue<String> names = new LinkedBlockingQueue<>();
        ChannelHandler application = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) throws Exception {
                if (evt instanceof ZMTPHandshakeSuccess) {
                    SslHandler handler = ctx.pipeline().get(SslHandler.class);
                    names.add(handler.engine().getSession().getPeerPrincipal().getName());
                }
                ctx.fireUserEventTriggered(evt);
            }
        };
        net.listen(
                tls(serving().clientAuth(ClientAuth.REQUIRE).trustManager(alice.certificate())),
                server.codec,
                application,
                server);
        net.connect(tls(trusting(host).keyManager(alice.keys())), client.codec, client);
        assertThat(await(names)).isEqualTo("CN=alice");
        client.assertSucceeded();
        client.write(7, 100);
        client.channel.flush();
        assertThat(server.number()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aClientWithoutTheCertificateThatIsDemandedFailsOnce(String protocol) throws Exception {
        net.listen(
                tls(serving()
                        .clientAuth(ClientAuth.REQUIRE)
                        .trustManager(alice.certificate())
                        .protocols(protocol)),
                server.codec,
                server);
        net.connecting(tls(trusting(host).protocols(protocol)), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @Test
    void aClientWithAnothersCertificateFailsOnce() throws Exception {
        net.listen(
                tls(serving().clientAuth(ClientAuth.REQUIRE).trustManager(alice.certificate())), server.codec, server);
        net.connecting(tls(trusting(host).keyManager(stranger.keys())), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aServerThatIsNotTrustedFailsBothSidesOnce(String protocol) throws Exception {
        net.listen(tls(serving().protocols(protocol)), server.codec, server);
        ChannelFuture connected = net.connecting(tls(trusting(stranger).protocols(protocol)), client.codec, client);
        await(connected);
        ChannelFuture early = connected.channel().writeAndFlush(ZMTPMessage.fromUTF8("early"));
        assertFailedOnce(client);
        assertFailedOnce(server);
        await(early);
        assertThat(early.isSuccess()).isFalse();
    }

    @Test
    void aPlainClientOfATlsServerFailsBothSidesOnce() throws Exception {
        net.listen(tls(serving()), server.codec, server);
        net.connecting(client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @Test
    void aTlsClientOfAPlainServerFailsBothSidesOnce() throws Exception {
        net.listen(server.codec, server);
        net.connecting(tls(trusting(host)), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void withoutAutoReadTheHandshakesCompleteAloneAndEachReadBringsOneMessage(String protocol) throws Exception {
        net.set(ChannelOption.AUTO_READ, false);
        net.listen(tls(serving().protocols(protocol)), server.codec, new FlowControlHandler(), new Patient(), server);
        net.connect(
                tls(trusting(host).protocols(protocol)), client.codec, new FlowControlHandler(), new Patient(), client);
        client.assertSucceeded();
        server.assertSucceeded();
        for (int i = 0; i < 10; i++) {
            client.write(i, i % 2 == 0 ? 4 : 50_000); // several of the small in a record, the big in several
        }
        client.channel.flush();
        for (int i = 0; i < 10; i++) {
            await(server.channel.eventLoop().submit(() -> {}));
            assertThat(server.messages).isEmpty();
            server.channel.read();
            assertThat(server.number()).isEqualTo(i);
        }
        assertThat(client.failures).isEmpty();
        assertThat(server.failures).isEmpty();
    }
}
