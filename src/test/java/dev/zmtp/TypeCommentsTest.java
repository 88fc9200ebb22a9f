package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The first sentence of a type's comment, which stands in every list of types. */
class TypeCommentsTest {

    private static final Pattern QUESTION = Pattern.compile("[\\s*]*(What|How|Which|Who|Where|When|Whether|Why)\\b");

    private static final Pattern TYPE = Pattern.compile("\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*"
            + "(?:(?:public|protected|private|abstract|final|static|sealed|non-sealed)\\s+)*"
            + "(?:class|interface|enum|record)\\s+(\\w+)");

    /** Returns the types in {@code source} whose comments begin with a question, not with what the type is. */
    private static List<String> questions(String source) {
        List<String> types = new ArrayList<>();
        for (int from = source.indexOf("/**"); from >= 0; from = source.indexOf("/**", from + 1)) {
            int end = source.indexOf("*/", from) + 2;
            Matcher type = TYPE.matcher(source).region(end, source.length());
            if (type.lookingAt()
                    && QUESTION.matcher(source.substring(from + 1, end)).lookingAt()) {
                types.add(type.group(1));
            }
        }
        return types;
    }

    private static Stream<String> questions(Path file) {
        try {
            return questions(Files.readString(file)).stream();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void saysWhatTheTypeIs() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".java")).flatMap(TypeCommentsTest::questions))
                    .isEmpty();
        }
    }

    @Test
    void aQuestionIsNoticed() {
        assertThat(questions("/** How. */ int a;\n/**\n * What it has.\n */\n@Sharable\npublic final class Some {"))
                .containsExactly("Some");
        assertThat(questions("/** How. */ int a;\n/** Whatever. */ record Some() {}"))
                .isEmpty();
    }
}
