package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.interop.InteropConnection.Binder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Peers with different mechanisms do not exchange anything, and both sides learn why. */
@Tag("slow")
@Tag("netty-4.2-only") // the same with any version of Netty
class MechanismMismatchIT {

    static List<Arguments> everyMismatch() {
        List<Arguments> all = new ArrayList<>();
        for (PeerKind kind : PeerKind.values()) {
            for (MechanismSide ours : MechanismSide.values()) {
                for (MechanismSide theirs : MechanismSide.values()) {
                    if (!ours.mechanism().equals(theirs.mechanism())) {
                        for (Binder binder : Binder.values()) {
                            all.add(Arguments.of(kind, ours, theirs, binder));
                        }
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}: our {1}, its {2}, {3} bind")
    @MethodSource("everyMismatch")
    void weLearnThatTheyHaveAnotherMechanism(PeerKind kind, MechanismSide ours, MechanismSide theirs, Binder binder) {
        ZMTPConfig config = ours.apply(SecurityIT.ours()).build();
        try (InteropConnection link = new InteropConnection(
                kind, binder, config, ZMTPSocketType.DEALER, theirs::apply, new WithoutMechanism())) {
            SecurityIT.assertRefused(link, ZMTPException.Code.MECHANISM, theirs.mechanism());
            link.theirs().awaitEnd();
        }
    }

    @ParameterizedTest(name = "{0}: our {1}, its {2}, {3} bind")
    @MethodSource("everyMismatch")
    void theyLearnThatWeHaveAnotherMechanism(PeerKind kind, MechanismSide ours, MechanismSide theirs, Binder binder) {
        ZMTPConfig config = ours.apply(SecurityIT.ours()).build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, theirs::apply)) {
            assertThat(link.theirs().event())
                    .isEqualTo(PeerEvent.of(
                            kind == PeerKind.LIBZMQ ? PeerEvent.Kind.FAILED_PROTOCOL : PeerEvent.Kind.DISCONNECTED));
            // The quicker side closes before the other's mechanism arrives.
            assertThat(link.ours().handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code())
                                    .isIn(ZMTPException.Code.MECHANISM, ZMTPException.Code.CLOSED));
        }
    }
}
