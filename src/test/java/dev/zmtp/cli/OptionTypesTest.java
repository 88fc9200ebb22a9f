package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** Values of options. */
class OptionTypesTest {

    @ParameterizedTest
    @CsvSource({"5s,PT5S", "200ms,PT0.2S", "1.5m,PT1M30S", "10us,PT0.00001S", "1h,PT1H", "7ns,PT0.000000007S"})
    void aDurationHasANumberAndAUnit(String text, Duration duration) {
        assertThat(new Durations().convert(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "s", "-1s", "5 s", "5sec", "1e9s", ""})
    void anythingElseIsNoDuration(String text) {
        assertThatExceptionOfType(TypeConversionException.class).isThrownBy(() -> new Durations().convert(text));
    }

    @Test
    void aRoutingIdIsTextOrHexadecimal() {
        assertThat(new RoutingId.Converter().convert("ada").bytes()).containsExactly('a', 'd', 'a');
        assertThat(new RoutingId.Converter().convert("0x00ff").bytes()).containsExactly(0, 255);
        assertThatExceptionOfType(TypeConversionException.class)
                .isThrownBy(() -> new RoutingId.Converter().convert("0x0"));
    }

    @ParameterizedTest
    @CsvSource({
        "tcp://:5555,tcp://*:5555,tcp://localhost:5555",
        "tcp://a:1,tcp://a:1,tcp://a:1",
        "ipc://x,ipc://x,ipc://x"
    })
    void anEndpointWithoutAHostHasOneThatFits(String text, String bound, String connected) {
        assertThat(EndpointArguments.toBind(text)).isEqualTo(bound);
        assertThat(EndpointArguments.toConnect(text)).isEqualTo(connected);
    }

    @ParameterizedTest
    @CsvSource({"7,7 ns", "1500,1.50 us", "48200,48.2 us", "655000,655 us", "1310000,1.31 ms", "2000000000,2.00 s"})
    void aTimeHasThreeDigits(long nanos, String text) {
        assertThat(Greeter.time(nanos)).isEqualTo(text);
    }
}
