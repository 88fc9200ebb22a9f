package dev.zmtp.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufUtil;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The vectors of ZWS 2.0 in both directions. */
@Tag("T129")
class GoldenZwsTest {

    static List<ZwsVector> vectors() {
        return ZwsVector.all();
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void aFrameBecomesZmtpWhereverItIsCut(ZwsVector vector) {
        for (int cut : ZwsVector.cuts(vector.frame())) {
            try (TranslatedChannel end = TranslatedChannel.open(vector.receiver(), vector.protocol())) {
                end.receive(vector.frame(), cut).receive(vector.frame());

                String zmtp = ByteBufUtil.hexDump(vector.zmtp());
                assertThat(end.zmtp()).as("cut at %d", cut).isEqualTo(zmtp + zmtp);
                assertThat(end.codec.failures).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void zmtpBecomesAFrameWhereverItIsCut(ZwsVector vector) {
        byte[] zmtp = vector.zmtp();
        for (int cut : ZwsVector.cuts(zmtp)) {
            try (TranslatedChannel end = TranslatedChannel.open(vector.sender(), vector.protocol())) {
                end.write(Arrays.copyOf(zmtp, cut));
                end.write(Arrays.copyOfRange(zmtp, cut, zmtp.length));
                end.write(zmtp);

                String frame = ByteBufUtil.hexDump(vector.frame());
                assertThat(end.received()).as("cut at %d", cut).isEqualTo(frame + frame);
            }
        }
    }

    static List<ZwsVector> shortVectors() {
        return vectors().stream().filter(vector -> vector.frame().length < 1000).toList();
    }

    @ParameterizedTest
    @MethodSource("shortVectors")
    void aFrameCanArriveByteByByte(ZwsVector vector) {
        try (TranslatedChannel end = TranslatedChannel.open(vector.receiver(), vector.protocol())) {
            byte[] frame = vector.frame();
            for (byte each : frame) {
                end.receive(new byte[] {each});
            }

            assertThat(end.zmtp()).isEqualTo(ByteBufUtil.hexDump(vector.zmtp()));
        }
    }

    @ParameterizedTest
    @MethodSource("shortVectors")
    void zmtpCanBeWrittenByteByByte(ZwsVector vector) {
        try (TranslatedChannel end = TranslatedChannel.open(vector.sender(), vector.protocol())) {
            byte[] zmtp = vector.zmtp();
            for (byte each : zmtp) {
                assertThat(end.write(new byte[] {each}).isSuccess()).isTrue();
            }

            assertThat(end.received()).isEqualTo(ByteBufUtil.hexDump(vector.frame()));
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void aReadCanHaveManyFrames(ZwsVector vector) {
        int times = 7;
        byte[] frames = new byte[times * vector.frame().length];
        for (int i = 0; i < times; i++) {
            System.arraycopy(vector.frame(), 0, frames, i * vector.frame().length, vector.frame().length);
        }
        try (TranslatedChannel end = TranslatedChannel.open(vector.receiver(), vector.protocol())) {
            end.receive(frames);

            assertThat(end.zmtp()).isEqualTo(ByteBufUtil.hexDump(vector.zmtp()).repeat(times));
        }
    }
}
