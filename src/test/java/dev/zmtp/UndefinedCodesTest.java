package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A comment names nothing by a code, a letter with a number, that this repository does not define. */
class UndefinedCodesTest {

    /** Literals come first, so that what looks like a comment in one is not taken for one. */
    private static final Pattern LITERAL_OR_COMMENT = Pattern.compile("\"\"\"(?s:[^\"\\\\]++|\\\\.|\"(?!\"\"))*+\"\"\""
            + "|\"(?:[^\"\\\\\n]++|\\\\.)*+\""
            + "|'(?:[^'\\\\\n]|\\\\.)++'"
            + "|(?<comment>/\\*(?s:.*?)\\*/|//[^\n]*+)");

    /** Not {@code #P50}, which is a reference to a member: javadoc checks that there is one. */
    private static final Pattern CODE = Pattern.compile("(?<!#)\\b[A-Z]\\d{1,3}\\b");

    /** The names that look like codes. Before you add one, try words. */
    private static final Set<String> NAMES = Set.of(
            "V1", "V2", "V3", // constants of ZMTPFraming
            "X11", // the protocol of the X Window System
            "Z85"); // the encoding of RFC 32

    /** The numbers in {@code sentences.txt}, as the tags of tests and their comments have them. */
    private static Set<String> sentences() throws IOException {
        Set<String> codes = new TreeSet<>();
        for (String line : Files.readAllLines(Path.of("src/test/resources/sentences.txt"))) {
            if (!line.startsWith("#")) {
                codes.add("T" + line.substring(0, line.indexOf(' ')));
            }
        }
        return codes;
    }

    private static long line(String source, int index) {
        return 1 + source.chars().limit(index).filter(c -> c == '\n').count();
    }

    /** Returns the codes in the comments of {@code source} that are not {@code defined}, each with its line. */
    private static List<String> undefined(String source, Set<String> defined) {
        List<String> found = new ArrayList<>();
        Matcher comment = LITERAL_OR_COMMENT.matcher(source);
        while (comment.find()) {
            if (comment.group("comment") != null) {
                Matcher code = CODE.matcher(source).region(comment.start(), comment.end());
                while (code.find()) {
                    if (!defined.contains(code.group())) {
                        found.add(line(source, code.start()) + ": " + code.group());
                    }
                }
            }
        }
        return found;
    }

    @Test
    void commentsHaveNoCodeThatIsNotDefined() throws IOException {
        Set<String> defined = sentences();
        defined.addAll(NAMES);

        List<String> found = new ArrayList<>();
        for (String root : List.of("src/main/java", "src/test/java", "src/jmh/java")) {
            try (Stream<Path> files = Files.walk(Path.of(root))) {
                for (Path file :
                        files.filter(name -> name.toString().endsWith(".java")).toList()) {
                    undefined(Files.readString(file), defined).forEach(code -> found.add(file + ":" + code));
                }
            }
        }

        assertThat(found)
                .as("codes in comments that nothing here defines (expected: words)")
                .isEmpty();
    }

    @Test
    void aCodeInACommentOfAnyKindIsFoundWithItsLine() {
        String source = "/** A1. */\nint a; // B22, T7\n/*\n * see C333\n */\n";

        assertThat(undefined(source, Set.of("T7"))).containsExactly("1: A1", "2: B22", "4: C333");
    }

    @Test
    void literalsReferencesAndLongerNamesAreNotCodes() {
        String source = "String a = \"/* A1 \\\" // A1\"; char c = '\"', d = '\\'';\n"
                + "// {@link #P50}, SHA256, x1, A1234\n"
                + "String b = \"\"\"\n // B1 \"quoted\" \\\"\"\" /* B1\n \"\"\"; int c1 = A1;\n";

        assertThat(undefined(source, Set.of())).isEmpty();
        assertThat(undefined(source + "// C1\n", Set.of())).containsExactly("6: C1");
    }
}
