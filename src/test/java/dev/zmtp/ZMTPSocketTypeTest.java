package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of the RFCs: which types are compatible, and what each type is called. */
class ZMTPSocketTypeTest {

    /** One row for each type, one column for each type in the same order: x where the two may talk. */
    private static final List<String> MATRIX = """
                     PAIR PUB SUB REQ REP DEALER ROUTER PULL PUSH XPUB XSUB
            PAIR     x    .   .   .   .   .      .      .    .    .    .      . . . . . . . .
            PUB      .    .   x   .   .   .      .      .    .    .    x      . . . . . . . .
            SUB      .    x   .   .   .   .      .      .    .    x    .      . . . . . . . .
            REQ      .    .   .   .   x   .      x      .    .    .    .      . . . . . . . .
            REP      .    .   .   x   .   x      .      .    .    .    .      . . . . . . . .
            DEALER   .    .   .   .   x   x      x      .    .    .    .      . . . . . . . .
            ROUTER   .    .   .   x   .   x      x      .    .    .    .      . . . . . . . .
            PULL     .    .   .   .   .   .      .      .    x    .    .      . . . . . . . .
            PUSH     .    .   .   .   .   .      .      x    .    .    .      . . . . . . . .
            XPUB     .    .   x   .   .   .      .      .    .    .    x      . . . . . . . .
            XSUB     .    x   .   .   .   .      .      .    .    x    .      . . . . . . . .
            CLIENT   .    .   .   .   .   .      .      .    .    .    .      . x . . . . . .
            SERVER   .    .   .   .   .   .      .      .    .    .    .      x . . . . . . .
            RADIO    .    .   .   .   .   .      .      .    .    .    .      . . . x . . . .
            DISH     .    .   .   .   .   .      .      .    .    .    .      . . x . . . . .
            SCATTER  .    .   .   .   .   .      .      .    .    .    .      . . . . . x . .
            GATHER   .    .   .   .   .   .      .      .    .    .    .      . . . . x . . .
            PEER     .    .   .   .   .   .      .      .    .    .    .      . . . . . . x .
            CHANNEL  .    .   .   .   .   .      .      .    .    .    .      . . . . . . . x
            """.lines().skip(1).toList();

    private static List<String> row(int index) {
        return List.of(MATRIX.get(index).trim().split(" +"));
    }

    private static final List<ZMTPSocketType> TYPES = Arrays.asList(ZMTPSocketType.values());

    private static Stream<Arguments> everyPair() {
        return TYPES.stream().flatMap(left -> TYPES.stream().map(right -> Arguments.of(left, right)));
    }

    @Test
    void theTableHasARowForEachType() {
        assertThat(IntStream.range(0, MATRIX.size()).mapToObj(i -> row(i).get(0)))
                .containsExactlyElementsOf(TYPES.stream().map(Enum::name).toList());
        assertThat(IntStream.range(0, MATRIX.size()).mapToObj(i -> row(i).size()))
                .containsOnly(TYPES.size() + 1);
    }

    @ParameterizedTest(name = "{0} and {1}")
    @MethodSource("everyPair")
    void twoTypesAreCompatibleAsTheTableSays(ZMTPSocketType left, ZMTPSocketType right) {
        String cell = row(TYPES.indexOf(left)).get(1 + TYPES.indexOf(right));

        assertThat(left.accepts(right)).isEqualTo(cell.equals("x"));
        assertThat(right.accepts(left)).isEqualTo(left.accepts(right));
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, 0",
        "PUB, 1",
        "SUB, 2",
        "REQ, 3",
        "REP, 4",
        "DEALER, 5",
        "ROUTER, 6",
        "PULL, 7",
        "PUSH, 8",
        "XPUB, 1",
        "XSUB, 2"
    })
    void aTypeHasACodeIn20(ZMTPSocketType type, int code) {
        assertThat(type.code()).isEqualTo(code);
        assertThat(type.isDraft()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"CLIENT", "SERVER", "RADIO", "DISH", "SCATTER", "GATHER", "PEER", "CHANNEL"})
    void aDraftTypeHasNoCodeIn20(ZMTPSocketType type) {
        assertThat(type.isDraft()).isTrue();
        assertThatThrownBy(type::code)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("socket type: " + type + " (expected: one with a code in ZMTP 2.0)");
    }

    @ParameterizedTest
    @CsvSource({
        "0, PAIR",
        "1, PUB",
        "2, SUB",
        "3, REQ",
        "4, REP",
        "5, DEALER",
        "6, ROUTER",
        "7, PULL",
        "8, PUSH",
        "9, XPUB",
        "10, XSUB"
    })
    void aCodeNamesAType(int code, ZMTPSocketType type) {
        assertThat(ZMTPSocketType.ofCode(code)).isEqualTo(type);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 11, 18, 255})
    void anyOtherCodeNamesNoType(int code) {
        assertThat(ZMTPSocketType.ofCode(code)).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void aTypeIsFoundByItsName(ZMTPSocketType type) {
        assertThat(ZMTPSocketType.ofName(type.name())).isEqualTo(type);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "pub", "Pub", "PUB\0", " PUB", "PUBSUB", "STREAM"})
    void anyOtherNameNamesNoType(String name) {
        assertThat(ZMTPSocketType.ofName(name)).isNull();
    }

    @Test
    void eachTraitHasItsTypes() {
        assertThat(TYPES.stream().filter(ZMTPSocketType::isPublisher))
                .containsExactly(ZMTPSocketType.PUB, ZMTPSocketType.XPUB);
        assertThat(TYPES.stream().filter(ZMTPSocketType::isSubscriber))
                .containsExactly(ZMTPSocketType.SUB, ZMTPSocketType.XSUB);
        assertThat(TYPES.stream().filter(ZMTPSocketType::isSendOnly))
                .containsExactly(ZMTPSocketType.PUB, ZMTPSocketType.PUSH, ZMTPSocketType.RADIO, ZMTPSocketType.SCATTER);
        assertThat(TYPES.stream().filter(ZMTPSocketType::announcesIdentity))
                .containsExactly(ZMTPSocketType.REQ, ZMTPSocketType.DEALER, ZMTPSocketType.ROUTER);
    }
}
