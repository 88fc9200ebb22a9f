package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README shows code that compiles. */
class ReadmeTest {

    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void itsCodeIsThatOfTheSnippets() throws IOException {
        String snippets = squeezed(Path.of("src/test/java/dev/zmtp/examples/Snippets.java"));
        List<String> blocks = JAVA_BLOCK
                .matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(block -> block.group(1))
                .toList();

        assertThat(blocks)
                .hasSizeGreaterThan(3)
                .allSatisfy(block -> assertThat(snippets).contains(squeezed(block)));
    }

    @Test
    void itsLinksLeadToFiles() throws IOException {
        List<String> links = Pattern.compile("\\]\\(([^)#:]+)\\)")
                .matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(link -> link.group(1))
                .toList();

        assertThat(links)
                .isNotEmpty()
                .allSatisfy(link -> assertThat(Path.of(link)).exists());
    }

    private static String squeezed(Path file) throws IOException {
        return squeezed(Files.readString(file));
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s+", " ").trim();
    }
}
