package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.interop.InteropConnection.Binder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Peers that must not talk to each other do not, and both learn it. */
class RefusalIT {

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void theWrongSocketTypeEndsBothSides(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.PULL, ZMTPSocketType.PUB)) {
            // Both refuse. The peer's own refusal is mute, and may come before its READY.
            assertThat(link.ours().handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code())
                                    .isIn(ZMTPException.Code.SOCKET_TYPE, ZMTPException.Code.CLOSED));
            assertThat(link.ours().next(String.class)).isEqualTo(OurEnd.CLOSED);
            link.theirs().awaitEnd();
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void anotherMechanismEndsBothSides(PeerKind kind, Binder binder) {
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();
        try (InteropConnection link = new InteropConnection(
                kind,
                binder,
                config,
                ZMTPSocketType.DEALER,
                socket -> socket.plainClient("user", "password"),
                new WithoutMechanism())) {
            assertThat(link.ours().handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.MECHANISM))
                    .hasMessageContaining("PLAIN");
            assertThat(link.ours().next(String.class)).isEqualTo(OurEnd.CLOSED);
            link.theirs().awaitEnd();
        }
    }

    @Test
    void anOlderPeerIsRefusedWithoutInterop() {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(ZMTPSocketType.DEALER)
                .interop(false)
                .build();
        try (InteropConnection link =
                new InteropConnection(PeerKind.JEROMQ, Binder.THEY, config, ZMTPSocketType.DEALER, socket -> {})) {
            assertThat(link.ours().handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.VERSION));
            assertThat(link.ours().next(String.class)).isEqualTo(OurEnd.CLOSED);
            link.theirs().awaitEnd();
        }
    }
}
