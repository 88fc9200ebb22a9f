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

    private static final Path MAIN = Path.of("src/main/java");

    /** A comment of a type, whose first word is the first group and whose name is the second one. */
    private static final Pattern COMMENTED_TYPE =
            Pattern.compile("\\A/\\*\\*[\\s*]*+(\\w+)(?s:.*)\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*"
                    + "(?:(?:public|protected|private|abstract|final|static|sealed|non-sealed)\\s+)*"
                    + "(?:class|interface|enum|record)\\s+(\\w+)");

    private static final Pattern QUESTION = Pattern.compile("What|How|Which|Who|Where|When|Whether|Why");

    /** From each comment on, to the first brace after it. */
    private static List<String> declarations(String source) {
        List<String> all = new ArrayList<>();
        for (int from = source.indexOf("/**"); from >= 0; from = source.indexOf("/**", from + 1)) {
            int end = source.indexOf("*/", from);
            int brace = source.indexOf('{', end);
            all.add(source.substring(from, brace < 0 ? source.length() : brace));
        }
        return all;
    }

    private static Stream<String> questions(Path file) {
        try {
            return declarations(Files.readString(file)).stream()
                    .map(COMMENTED_TYPE::matcher)
                    .filter(Matcher::lookingAt)
                    .filter(type -> QUESTION.matcher(type.group(1)).matches())
                    .map(type -> file.getFileName() + ": " + type.group(2) + ": " + type.group(1));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void saysWhatTheTypeIs() throws IOException {
        try (Stream<Path> files = Files.walk(MAIN)) {
            assertThat(files.filter(file -> file.toString().endsWith(".java")).flatMap(TypeCommentsTest::questions))
                    .as("comments that begin with a question, not with what the type is")
                    .isEmpty();
        }
    }

    @Test
    void aQuestionIsNoticed() {
        String source = "/**\n * What it has. */\n@Sharable\npublic final class Some {\n  /** How. */ void f() {}\n}";
        assertThat(declarations(source)).hasSize(2).first().matches(COMMENTED_TYPE.asPredicate());
        assertThat(declarations(source).get(1)).doesNotMatch(COMMENTED_TYPE.pattern() + ".*");
    }
}
