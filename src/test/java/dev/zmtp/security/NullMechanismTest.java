package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Metadata;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** NULL, command by command. */
class NullMechanismTest {

    private static final String READY = "05 \"READY\" 0b \"Socket-Type\" 00 00 00 04 \"PULL\"";
    private static final ZMTPMetadata PULL = ZMTPMetadata.EMPTY.with("Socket-Type", "PULL");

    private final ZMTPMechanism.Context context = mock(ZMTPMechanism.Context.class);
    private final NullMechanism mechanism = new NullMechanism(context);

    @BeforeEach
    void theCodecIsAPush() {
        when(context.alloc()).thenReturn(ByteBufAllocator.DEFAULT);
        when(context.localMetadata())
                .thenReturn(ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("X-Name", "val"));
        when(context.readPeerMetadata(any())).thenAnswer(call -> Metadata.read(call.getArgument(0), 256));
        answer(ZMTPAuthDecision.accept(""));
    }

    /** What the authenticator says. */
    private void answer(ZMTPAuthDecision decision) {
        doAnswer(call -> {
                    call.<Consumer<ZMTPAuthDecision>>getArgument(3).accept(decision);
                    return null;
                })
                .when(context)
                .authenticate(any(), any(), any(), any());
    }

    private void receive(String command) {
        ByteBuf body = Hex.buffer(command);
        try {
            mechanism.receive(body);
        } finally {
            assertThat(body.refCnt()).isOne(); // it stays the caller's
            body.release();
        }
    }

    @Test
    void nullIsNotAServerHasNoCipherAndAllowsDowngrade() {
        assertThat(mechanism.name()).isEqualTo("NULL");
        assertThat(mechanism.isServer()).isFalse();
        assertThat(mechanism.allowsDowngrade()).isTrue();
        assertThat(mechanism.cipher()).isNull();
    }

    @Test
    void theConstructorDoesNotUseTheContext() {
        verify(context, never()).localMetadata();
        verify(context, never()).alloc();
    }

    @Test
    void readyIsSentOnceAndAtOnce() {
        assertThat(Hex.dump(mechanism.poll()))
                .isEqualTo(Hex.of(
                        "05 \"READY\" 0b \"Socket-Type\" 00 00 00 04 \"PUSH\" 06 \"X-Name\" 00 00 00 03 \"val\""));
        assertThat(mechanism.poll()).isNull();
        receive(READY);
        assertThat(mechanism.poll()).isNull();
    }

    @Test
    void readyIsNotSentToAPeerThatIsDenied() {
        answer(ZMTPAuthDecision.deny("unknown"));
        assertThatThrownBy(mechanism::poll).isInstanceOfSatisfying(ZMTPException.class, refusal -> {
            assertThat(refusal).hasMessage("authentication: 400, unknown (expected: 200)");
            assertThat(Hex.dump(mechanism.refuse(refusal))).isEqualTo(Hex.of("05 \"ERROR\" 03 \"400\""));
        });
        assertThat(mechanism.isReady()).isFalse();
    }

    @Test
    void bothReadiesEndTheHandshakeOursFirst() {
        assertThat(mechanism.isReady()).isFalse();
        mechanism.poll().release();
        assertThat(mechanism.isReady()).isFalse();
        receive(READY);

        assertThat(mechanism.isReady()).isTrue();
        assertThat(mechanism.peerMetadata()).isEqualTo(PULL);
    }

    @Test
    void bothReadiesEndTheHandshakeTheirsFirst() {
        receive(READY);
        assertThat(mechanism.isReady()).isFalse();
        mechanism.poll().release();

        assertThat(mechanism.isReady()).isTrue();
        assertThat(mechanism.peerMetadata()).isEqualTo(PULL);
    }

    @Test
    void aReadyMayBeEmpty() {
        receive("05 \"READY\"");

        assertThat(mechanism.peerMetadata()).isEqualTo(ZMTPMetadata.EMPTY);
    }

    @Test
    void theMetadataIsReadByTheCodecWhichMayRefuseIt() {
        ZMTPException refusal = ZMTPException.of(Code.SOCKET_TYPE, "socket type", "PUB", "PULL");
        doThrow(refusal).when(context).readPeerMetadata(any());

        assertThatThrownBy(() -> receive(READY)).isSameAs(refusal);
        mechanism.poll().release();
        assertThat(mechanism.isReady()).isFalse();
    }

    @Test
    void thereIsNoPeerMetadataBeforeItsReady() {
        assertThatThrownBy(mechanism::peerMetadata)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("peer metadata: none (expected: READY received)");
    }

    @ParameterizedTest(name = "{0}: {2}")
    @CsvSource({
        "05 \"READY\",                UNEXPECTED, 'command: a second READY (expected: one)'",
        "05 \"ERROR\" 03 \"400\",     PEER_ERROR, 'refused by the peer: 400'",
        "05 \"ERROR\" 02 0a 41,       PEER_ERROR, 'refused by the peer: ?A'",
        "05 \"ERROR\" 04 \"400\",     MALFORMED,  'ERROR reason length: 4 (expected: 3)'",
        "04 \"PING\" 00 00,           UNEXPECTED, 'command: PING (expected: READY or ERROR)'",
        "09 \"SUBSCRIBE\" 41,         UNEXPECTED, 'command: SUBSCRIBE (expected: READY or ERROR)'",
        "05 \"HELLO\" 00 00,          UNEXPECTED, 'command: HELLO (expected: READY or ERROR)'",
        "05 \"ready\",                UNEXPECTED, 'command: UNKNOWN (expected: READY or ERROR)'",
        "'',                          MALFORMED,  'command body length: 0 (expected: >= 1)'",
        "06 \"READY\",                MALFORMED,  'command name length: 6 (expected: 1 to 5)'"
    })
    void nothingElseMayFollowAReady(String command, Code code, String message) {
        receive(READY);

        assertThatThrownBy(() -> receive(command))
                .isInstanceOf(ZMTPException.class)
                .hasMessage(message)
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(code);
        assertThat(mechanism.peerMetadata()).isEqualTo(PULL);
    }

    @Test
    void aPeerWithTheWrongSocketTypeGetsTheReason() {
        ByteBuf error = mechanism.refuse(ZMTPException.of(Code.SOCKET_TYPE, "type", "PUB", "PULL"));

        assertThat(Hex.dump(error))
                .isEqualTo(Hex.of("05 \"ERROR\" 1a \"type:\" 20 \"PUB\" 20 \"(expected:\" 20 \"PULL)\""));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SOCKET_TYPE")
    void anyOtherFaultGetsNoReason(Code code) {
        assertThat(mechanism.refuse(new ZMTPException(code, "reason"))).isNull();
    }
}
