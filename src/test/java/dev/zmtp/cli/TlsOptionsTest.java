package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.REP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.TestSockets;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command that connects with TLS, to a socket whose certificate it trusts or does not. */
class TlsOptionsTest {

    @TempDir
    private static Path directory;

    private static Certificates server;
    private static String serverFile;
    private static List<String> client;

    @BeforeAll
    static void makeCertificates() throws Exception {
        server = Certificates.make(directory, "server");
        serverFile = server.writeCertificate(directory.resolve("server.pem")).toString();
        Certificates its = Certificates.make(directory, "client");
        client = List.of(
                "--cert",
                its.writeCertificate(directory.resolve("client.pem")).toString(),
                "--cert-key",
                its.writeKey(directory.resolve("client.key")).toString());
    }

    private static String serving(TestSockets sockets, ClientAuth clients) throws Exception {
        ZMTPSocket rep = sockets.open(sockets.builder(REP)
                .tls(SslContextBuilder.forServer(server.keys())
                        .sslProvider(SslProvider.JDK)
                        .trustManager(directory.resolve("client.pem").toFile())
                        .clientAuth(clients)
                        .build()));
        rep.serve(request -> request.reply(request.message()));
        return TestSockets.bind(rep, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost");
    }

    private static CommandRun request(String endpoint, Stream<String> options) {
        return CommandRun.of(
                "hello\n",
                Stream.concat(Stream.of("req", "-w", "10s", "--tls", endpoint), options)
                        .toArray(String[]::new));
    }

    @Test
    void aTrustedServerAnswers(TestSockets sockets) throws Exception {
        CommandRun run = request(serving(sockets, ClientAuth.NONE), Stream.of("--ca", serverFile));

        assertThat(run).isEqualTo(new CommandRun(ExitCode.OK, "hello\n", ""));
    }

    @Test
    void anyServerAnswersIfCertificatesAreNotChecked(TestSockets sockets) throws Exception {
        CommandRun run = request(serving(sockets, ClientAuth.NONE), Stream.of("--insecure"));

        assertThat(run).isEqualTo(new CommandRun(ExitCode.OK, "hello\n", ""));
    }

    @Test
    void aServerOfAnotherAuthorityIsRefused(TestSockets sockets) throws Exception {
        CommandRun run = CommandRun.of("", "ping", "--tls", serving(sockets, ClientAuth.NONE));

        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errors()).contains("PKIX path building failed");
    }

    @Test
    void aCertificateForAnotherHostIsRefused(TestSockets sockets) throws Exception {
        String endpoint = serving(sockets, ClientAuth.NONE).replace("localhost", "127.0.0.1");

        CommandRun run = CommandRun.of("", "ping", "--tls", "--ca", serverFile, endpoint);

        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errors()).contains("127.0.0.1");
    }

    @Test
    void aServerThatRequiresCertificatesAcceptsOneOfAClient(TestSockets sockets) throws Exception {
        String endpoint = serving(sockets, ClientAuth.REQUIRE);

        CommandRun run = request(endpoint, Stream.concat(Stream.of("--ca", serverFile), client.stream()));

        assertThat(run).isEqualTo(new CommandRun(ExitCode.OK, "hello\n", ""));
    }
}
