package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Elements by about how much each has. */
class MagnitudesTest {

    private final Magnitudes<String> elements = new Magnitudes<>();

    @Test
    void anAmountHasTheMagnitudeOfThePowerOfTwoThatItReaches() {
        assertThat(Magnitudes.of(0)).isZero();
        assertThat(Magnitudes.of(1)).isZero();
        assertThat(Magnitudes.of(7)).isEqualTo(2);
        assertThat(Magnitudes.of(8)).isEqualTo(3);
        assertThat(Magnitudes.of(Long.MAX_VALUE)).isEqualTo(62);
    }

    @Test
    void theGreatestIsOneOfThoseThatHaveAboutTheMost() {
        assertThat(elements.greatest()).isNull();
        elements.add("few", 3);
        elements.add("many", 700);
        elements.add("more", 900);

        assertThat(elements.greatest()).isEqualTo("many");
        assertThat(elements.remove("many", 700)).isTrue();
        assertThat(elements.greatest()).isEqualTo("more");
        assertThat(elements.remove("more", 900)).isTrue();
        assertThat(elements.greatest()).isEqualTo("few");
    }

    @Test
    void anElementIsRemovedOnceAndWithItsAmountOnly() {
        elements.add("a", 5);

        assertThat(elements.remove("a", 8)).isFalse();
        assertThat(elements.remove("b", 5)).isFalse();
        assertThat(elements.remove("a", 4)).as("of the same magnitude").isTrue();
        assertThat(elements.remove("a", 5)).isFalse();
        assertThat(elements.greatest()).isNull();
    }

    @Test
    void onlyWhatSurelyHasLessIsPolledAndInItsOrder() {
        elements.add("five", 5);
        elements.add("four", 4);
        elements.add("nine", 9);

        assertThat(elements.pollLess(7))
                .as("others of the magnitude may have 7")
                .isNull();
        assertThat(elements.pollLess(8)).isEqualTo("five");
        assertThat(elements.pollLess(8)).isEqualTo("four");
        assertThat(elements.pollLess(8)).isNull();
        assertThat(elements.pollLess(16)).isEqualTo("nine");
        assertThat(elements.pollLess(Long.MAX_VALUE)).isNull();
    }
}
