package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Pictures of fewer bytes. */
class SvgSlimTest {

    @Test
    void aLetterIsDrawnOnceAndUsedFromThere() {
        String text = "<path d=\"M1.0625,-2 L3.03125,-2 L1.0625,0 Z M11.0625,-2 L13.03125,-2 L11.0625,0 Z"
                + " M21,-2 L29,-2 Z\" style=\"fill:black\"/>";

        assertThat(slim(text)).isEqualTo("""
                <svg version="1.1">
                <style>
                .c0{fill:black}
                </style>
                <defs>
                <path id="s0" d="m0 0l2 0l-2 2z"/>
                </defs>
                <g class="c0">
                <use href="#s0" x="1.1" y="-2"/>
                <use href="#s0" x="11.1" y="-2"/>
                <path d="M21 -2l8 0z"/>
                </g>
                </svg>""");
    }

    @Test
    void aHoleStaysInItsLetter() {
        String ring = "M0,0 L9,0 L9,9 L0,9 Z M3,3 L3,6 L6,6 L6,3 Z";

        assertThat(slim("<path d=\"" + ring + "\" style=\"a\"/>\n<path d=\"" + ring + "\" style=\"b\"/>"))
                .contains("<path id=\"s0\" d=\"m0 0l9 0l0 9l-9 0zm3 3l0 3l3 0l0-3z\"/>")
                .contains("<use class=\"c0\" href=\"#s0\" x=\"0\" y=\"0\"/>\n"
                        + "<use class=\"c1\" href=\"#s0\" x=\"0\" y=\"0\"/>");
    }

    @Test
    void roundedStepsDoNotDriftAway() {
        assertThat(slim("<path d=\"M0,0 L0.04,0 L0.08,0 L0.12,0 L0.16,0 Q0.2,1 10.24,10.06 Z\" style=\"a\"/>"))
                .contains("<path class=\"c0\" d=\"M0 0l0 0l0.1 0l0 0l0.1 0q0 1 10 10.1z\"/>");
    }

    @Test
    void linesOfOneStyleAreOnePath() {
        assertThat(slim("""
                <line style="a" x1="1.04" x2="2" y1="3" y2="4.06"/>
                <line style="a" x1="5" x2="6" y1="7" y2="8"/>
                <line style="b" x1="5" x2="6" y1="7" y2="8"/>"""))
                .contains("<path class=\"c0\" d=\"M1 3L2 4.1M5 7L6 8\"/>\n"
                        + "<line class=\"c1\" x1=\"5\" x2=\"6\" y1=\"7\" y2=\"8\"/>");
    }

    @Test
    void twoRunsGiveTheSameFile() {
        String clipped = "<clipPath id=\"clip%1$d\"></clipPath>\n<g style=\"clip-path:url(#clip%1$d);\"></g>\n"
                + "<rect height=\"431.71875\" style=\"a\"/>\n<g transform=\"translate(21.04 -292.5)\"></g>";

        assertThat(slim(String.format(clipped, 912986760)))
                .isEqualTo(slim(String.format(clipped, 4711)))
                .contains("<clipPath id=\"clip0\">")
                .contains("{clip-path:url(#clip0);}")
                .contains("<rect height=\"431.7\" class=\"c1\"/>")
                .contains("translate(21 -292.5)");
    }

    private static String slim(String content) {
        return SvgSlim.of("<?xml version=\"1.0\"?>\n<svg version=\"1.1\">\n  " + content + "\n</svg>");
    }
}
