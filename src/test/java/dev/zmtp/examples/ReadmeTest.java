package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that show code show such as compiles, and link to what is there. */
class ReadmeTest {

    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/securing-a-service.md", "docs/writing-a-mechanism.md"})
    void itsCodeCompiles(String page) throws IOException {
        String code = "";
        for (String program :
                new String[] {"Snippets", "SecureRouter", "TlsClient", "ProxiedService", "TokenMechanism"}) {
            code += squeezed(Path.of("src/test/java/dev/zmtp/examples", program + ".java"));
        }
        String compiled = code;
        List<String> blocks = JAVA_BLOCK
                .matcher(Files.readString(Path.of(page)))
                .results()
                .map(block -> block.group(1))
                .toList();

        assertThat(blocks)
                .hasSizeGreaterThan(3)
                .allSatisfy(block -> assertThat(compiled).contains(squeezed(block)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/securing-a-service.md", "docs/writing-a-mechanism.md"})
    void itsLinksLeadToFiles(String page) throws IOException {
        Path file = Path.of(page);
        List<String> links = Pattern.compile("\\]\\(([^)#:]+)\\)")
                .matcher(Files.readString(file))
                .results()
                .map(link -> link.group(1))
                .toList();

        assertThat(links)
                .isNotEmpty()
                .allSatisfy(link -> assertThat(file.resolveSibling(link)).exists());
    }

    private static String squeezed(Path file) throws IOException {
        return squeezed(Files.readString(file));
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s+", " ").trim();
    }
}
