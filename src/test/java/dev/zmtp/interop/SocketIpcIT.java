package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** T60. Our sockets on {@code ipc://}, with libzmq at the other side. JeroMQ's {@code ipc://} is TCP. */
@Tag("T60")
class SocketIpcIT {

    private static final int MESSAGES = 500;

    @TempDir
    Path directory;

    static List<Arguments> everyBinderInBothRoles() {
        return Every.combinationOf(Binder.values(), new Boolean[] {true, false});
    }

    // Streams

    @ParameterizedTest(name = "{0} bind, we send: {1}")
    @MethodSource("everyBinderInBothRoles")
    void messagesArriveOnceInOrderOverAPathByNio(Binder binder, boolean weSend) {
        stream(TestTransport.NIO_UNIX, binder, weSend);
    }

    @ParameterizedTest(name = "{0} bind, we send: {1}")
    @MethodSource("everyBinderInBothRoles")
    void messagesArriveOnceInOrderOverAPathByEpoll(Binder binder, boolean weSend) {
        stream(TestTransport.EPOLL_UNIX, binder, weSend);
    }

    @ParameterizedTest(name = "{0} bind, we send: {1}")
    @MethodSource("everyBinderInBothRoles")
    void messagesArriveOnceInOrderOverAnAbstractName(Binder binder, boolean weSend) {
        stream(TestTransport.EPOLL_ABSTRACT, binder, weSend);
    }

    private void stream(TestTransport transport, Binder binder, boolean weSend) {
        String endpoint = Endpoints.of(transport.newAddress(directory));
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            PeerSocket push = sides.socket(weSend, PUSH);
            PeerSocket pull = sides.socket(!weSend, PULL);
            boolean pushBinds = (binder == Binder.WE) == weSend;

            assertThat((pushBinds ? push : pull).bind(endpoint)).isEqualTo(endpoint);
            (pushBinds ? pull : push).connect(endpoint);

            Stream.over(push, pull, MESSAGES);
        }
    }

    private static OurPeer us(TestTransport transport) {
        String refusal = transport.refusal();
        if (refusal != null && transport.isRequired()) {
            throw new AssertionError(refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        TestTransport.Kit kit = transport.kit();
        TestSockets sockets = new TestSockets(new EventLoops(kit.group()));
        return transport == TestTransport.NIO_UNIX
                ? new OurPeer(sockets, config -> {})
                : new OurPeer(sockets, config -> unixSockets(config, kit));
    }

    private static void unixSockets(ZMTPSocketConfig.Builder config, TestTransport.Kit kit) {
        config.ipcChannels(() -> kit.channel().newChannel(), () -> kit.server().newChannel(), DomainSocketAddress::new);
    }

    // Binds

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX", "EPOLL_ABSTRACT"})
    void aSecondBindIsRefusedAndTheFirstGoesOn(TestTransport transport) {
        String endpoint = Endpoints.of(transport.newAddress(directory));
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            PeerSocket first = sides.ours(PULL);
            first.bind(endpoint);
            PeerSocket push = sides.theirs(PUSH);

            assertBindIsRefused(sides, endpoint);

            push.connect(endpoint);
            push.send(Messages.of("still here"));
            assertThat(first.receive()).isEqualTo(Messages.of("still here"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX", "EPOLL_ABSTRACT"})
    void aBindWhereLibzmqListensIsRefusedAndLibzmqGoesOn(TestTransport transport) {
        String endpoint = Endpoints.of(transport.newAddress(directory));
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            PeerSocket theirs = sides.theirs(PULL);
            theirs.bind(endpoint);

            assertBindIsRefused(sides, endpoint);

            PeerSocket push = sides.ours(PUSH);
            push.connect(endpoint);
            push.send(Messages.of("still here"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("still here"));
        }
    }

    private static void assertBindIsRefused(BothSides sides, String endpoint) {
        assertThat(TestSockets.failure(sides.ours(PULL).socket().bind(endpoint).readyFuture()))
                .hasCauseInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX"})
    void aSocketFileThatNobodyListensAtIsReplaced(TestTransport transport) throws IOException {
        Path file = directory.resolve("stale");
        try (ServerSocketChannel left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            left.bind(UnixDomainSocketAddress.of(file));
        }
        assertThat(file).exists();
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            PeerSocket pull = sides.ours(PULL);
            PeerSocket push = sides.theirs(PUSH);

            push.connect(pull.bind("ipc://" + file));

            push.send(Messages.of("through the new one"));
            assertThat(pull.receive()).isEqualTo(Messages.of("through the new one"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX"})
    void aRegularFileIsNotTouched(TestTransport transport) throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "precious");
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            assertThat(TestSockets.failure(
                            sides.ours(PULL).socket().bind("ipc://" + file).readyFuture()))
                    .hasCauseInstanceOf(BindException.class)
                    .hasMessageContaining("not a socket");
        }
        assertThat(file).hasContent("precious");
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX"})
    void theFileGoesWithTheBindingAndLibzmqMayHaveItsPlace(TestTransport transport) {
        Path file = directory.resolve("s");
        try (BothSides sides = new BothSides(SocketPeerKind.LIBZMQ, us(transport))) {
            ZMTPEndpoint binding = TestSockets.get(
                    sides.ours(PULL).socket().bind("ipc://" + file).readyFuture());
            assertThat(file).exists();

            TestSockets.unbind(binding);

            assertThat(file).doesNotExist();
            PeerSocket pull = sides.theirs(PULL);
            PeerSocket push = sides.ours(PUSH);
            pull.bind("ipc://" + file);
            push.connect("ipc://" + file);
            push.send(Messages.of("to the next"));
            assertThat(pull.receive()).isEqualTo(Messages.of("to the next"));
        }
    }
}
