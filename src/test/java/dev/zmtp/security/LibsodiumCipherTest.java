package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.AdditionalMatchers.geq;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which functions of libsodium a box takes. */
@ParameterizedClass(allowZeroInvocations = true) // libsodium may be missing outside of CI
@MethodSource("dev.zmtp.security.CurveLibraries#libsodium")
class LibsodiumCipherTest {

    private static final int MAC = SecretBox.MAC_LENGTH;

    @Parameter
    private Libsodium libsodium;

    private LibsodiumFunctions functions;
    private SecretBox boxes;

    @BeforeEach
    void countsCalls() {
        functions = mock(LibsodiumFunctions.class, delegatesTo(libsodium.functions()));
        boxes = new SecretBox(new Libsodium(functions), new byte[32], new byte[16]);
        boxes.seal(0, Unpooled.buffer(MAC), MAC, 0); // so that there is memory
        clearInvocations(functions);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 2048})
    void aShortBoxTakesTwoCalls(int length) {
        ByteBuf data = Unpooled.directBuffer(MAC + length).writeZero(MAC + length);
        boxes.seal(1, data, MAC, length);
        twoCalls(length);
        assertThat(boxes.open(1, data, MAC, length)).isTrue();
        twoCalls(length);
        data.release();
    }

    private void twoCalls(long length) {
        verify(functions).crypt(anyLong(), anyLong(), geq(32 + length), anyLong(), eq(0L), anyLong());
        verify(functions).poly1305(anyLong(), anyLong(), eq(length), anyLong());
        verifyNoMoreInteractions(functions);
        clearInvocations(functions);
    }

    @Test
    void aLongBoxStaysWhereItIs() {
        int length = 2049;
        ByteBuf data = Unpooled.directBuffer(MAC + length).writeZero(MAC + length);
        long address = data.memoryAddress() + MAC;
        boxes.seal(1, data, MAC, length);
        verify(functions).crypt(eq(address + 32), eq(address + 32), eq(length - 32L), anyLong(), eq(1L), anyLong());
        verify(functions).poly1305Update(anyLong(), eq(address), eq((long) length));
        data.release();
    }
}
