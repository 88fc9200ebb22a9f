package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.examples.UnixSocket;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Unix domain sockets, which libzmq calls {@code ipc://}. JeroMQ's are TCP. */
class UnixSocketsIT {

    private static final int[] SIZES = {0, 1, 255, 256, 64 << 10, 16 << 20};

    @TempDir
    Path directory;

    private InteropConnection connect(
            TestTransport transport, Binder binder, ZMTPSocketType ours, ZMTPSocketType theirs) {
        String refusal = transport.refusal();
        if (refusal != null && transport.isRequired()) {
            throw new AssertionError(refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        ZMTPConfig config = ZMTPConfig.builder().socketType(ours).build();
        return new InteropConnection(
                PeerKind.LIBZMQ, binder, transport, transport.newAddress(directory), config, theirs, socket -> {
                    if (theirs == ZMTPSocketType.SUB) {
                        socket.subscribe(Conversation.TOPIC);
                    }
                });
    }

    static List<Arguments> everyPair() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType ours : ZMTPSocketType.values()) {
            for (ZMTPSocketType theirs : ZMTPSocketType.values()) {
                if (!ours.isDraft() && ours.accepts(theirs)) {
                    for (Binder binder : Binder.values()) {
                        all.add(Arguments.of(ours, theirs, binder));
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "our {0}, its {1}, {2} bind")
    @MethodSource("everyPair")
    @Tag("netty-4.2-only")
    void everyPairOfTypesTalksByNio(ZMTPSocketType ours, ZMTPSocketType theirs, Binder binder) {
        talk(TestTransport.NIO_UNIX, ours, theirs, binder);
    }

    @ParameterizedTest(name = "our {0}, its {1}, {2} bind")
    @MethodSource("everyPair")
    void everyPairOfTypesTalksByEpoll(ZMTPSocketType ours, ZMTPSocketType theirs, Binder binder) {
        talk(TestTransport.EPOLL_UNIX, ours, theirs, binder);
    }

    @ParameterizedTest(name = "{0} bind")
    @EnumSource
    void anAbstractNameIsTheSameForBoth(Binder binder) {
        talk(TestTransport.EPOLL_ABSTRACT, ZMTPSocketType.DEALER, ZMTPSocketType.ROUTER, binder);
    }

    private void talk(TestTransport transport, ZMTPSocketType ours, ZMTPSocketType theirs, Binder binder) {
        try (InteropConnection link = connect(transport, binder, ours, theirs)) {
            assertThat(link.ours().handshake().remoteSocketType()).isEqualTo(theirs);
            Conversation.over(link, ours, theirs, null);
        }
    }

    @ParameterizedTest(name = "{0} bind")
    @EnumSource
    @Tag("netty-4.2-only")
    void framesOfAnySizeAreEchoedByNio(Binder binder) {
        echo(TestTransport.NIO_UNIX, binder);
    }

    @ParameterizedTest(name = "{0} bind")
    @EnumSource
    void framesOfAnySizeAreEchoedByEpoll(Binder binder) {
        echo(TestTransport.EPOLL_UNIX, binder);
    }

    private void echo(TestTransport transport, Binder binder) {
        try (InteropConnection link = connect(transport, binder, ZMTPSocketType.DEALER, ZMTPSocketType.DEALER)) {
            link.ours().handshake();
            for (int size : SIZES) {
                ZMTPMessage message = Messages.ofLengths(size, 1, size);
                Conversation.weSendTheyReceive(link, message);
                Conversation.theySendWeReceive(link, message);
            }
        }
    }

    // Kills

    @Test
    @Tag("netty-4.2-only")
    void theirClientFindsOurServerAgainThatWasKilled() throws Exception {
        Path path = directory.resolve("s");
        try (PeerContext peer = PeerKind.LIBZMQ.open()) {
            PeerSocket client = peer.socket(ZMTPSocketType.DEALER);
            client.connect("ipc://" + path);
            for (int life = 1; life <= 3; life++) {
                try (JavaProcess server = start(UnixSocket.class, "serve", path.toString())) {
                    client.send(Messages.of("life", "" + life));
                    assertThat(client.receive()).isEqualTo(Messages.of("life", "" + life));
                    server.kill();
                    client.awaitEnd();
                }
                assertThat(path).exists(); // nobody was there to remove it
            }
        }
    }

    @Test
    void ourClientSeesThatTheirServerWasKilledAndFindsTheNextOne() throws Exception {
        Path path = directory.resolve("s");
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();
        try (OurSide ourSide = new OurSide(TestTransport.EPOLL_UNIX)) {
            for (int life = 1; life <= 3; life++) {
                try (JavaProcess server = start(LibZmqServers.class, "ipc://" + path)) {
                    OurEnd client = ourSide.connect(new DomainSocketAddress(path.toString()), config);
                    client.write(Messages.of("life", "" + life));
                    client.handshake();
                    assertThat(client.message()).isEqualTo(Messages.of("life", "" + life));
                    server.kill();
                    assertThat(client.channel().closeFuture().await(Patience.LIMIT.toMillis()))
                            .isTrue();
                }
            }
        }
    }

    /** Returns a process of the program when that has printed a line. */
    private static JavaProcess start(Class<?> program, String... arguments) throws Exception {
        JavaProcess process = new JavaProcess(JavaProcess.command(List.of(), program, arguments));
        process.line();
        return process;
    }
}
