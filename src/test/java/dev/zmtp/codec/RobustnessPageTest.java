package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/** What docs/robustness.md promises has a test. */
class RobustnessPageTest {

    /** A row of a table that has a number, and so is a promise. */
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]\\d+) \\|.*\\|$", Pattern.MULTILINE);

    /** A class, perhaps with the last part of its package before it, and a method of it. */
    private static final Pattern NAME = Pattern.compile("`(?:(\\w+)\\.)?(\\w+(?:Test|IT))\\.(\\w+)`");

    private static String page() throws IOException {
        return Files.readString(Path.of("docs/robustness.md"));
    }

    private static List<MatchResult> rows() throws IOException {
        return ROW.matcher(page()).results().toList();
    }

    @Test
    void everyNamedTestExists() throws IOException {
        List<String> missing = new ArrayList<>();
        List<MatchResult> names = NAME.matcher(page()).results().toList();
        for (MatchResult name : names) {
            if (!isTest(name.group(1), name.group(2), name.group(3))) {
                missing.add(name.group());
            }
        }
        assertThat(missing).isEmpty();
        assertThat(names).hasSizeGreaterThan(100);
    }

    @Test
    void everyPromiseNamesATest() throws IOException {
        assertThat(rows())
                .hasSizeGreaterThan(70)
                .allSatisfy(row -> assertThat(NAME.matcher(row.group()).find())
                        .as(row.group())
                        .isTrue());
    }

    @Test
    void noTwoPromisesHaveTheSameNumber() throws IOException {
        assertThat(rows()).extracting(row -> row.group(1)).doesNotHaveDuplicates();
    }

    /** Each code of a ZMTPException, and each status of ZAP, and how a test may spell it. */
    private static final Map<String, Pattern> STATUSES = statuses();

    private static Map<String, Pattern> statuses() {
        Map<String, Pattern> all = new LinkedHashMap<>();
        for (ZMTPException.Code code : ZMTPException.Code.values()) {
            all.put(code.name(), Pattern.compile("\\b" + code + "\\b"));
        }
        all.put("300", Pattern.compile("\\b300\\b|TEMPORARY_FAILURE|temporaryFailure"));
        all.put("400", Pattern.compile("\\b400\\b|Status\\.DENIED|ZMTPAuthDecision\\.deny"));
        all.put("500", Pattern.compile("\\b500\\b|Status\\.ERROR|ZMTPAuthDecision\\.error"));
        return all;
    }

    /** The number, what the peer does, what the codec does, and the tests of a row. */
    private static final Pattern CELLS = Pattern.compile("\\| ([A-Z]\\d+) \\| (.*) \\| (.*) \\| (.*?) \\|");

    @Test
    void everyStatusThatAPromiseNamesIsInOneOfItsTests() throws IOException {
        List<String> missing = new ArrayList<>();
        int statuses = 0;
        for (MatchResult row : rows()) {
            Matcher cells = CELLS.matcher(row.group());
            assertThat(cells.matches()).as(row.group()).isTrue();
            StringBuilder tests = new StringBuilder();
            for (MatchResult name : NAME.matcher(cells.group(4)).results().toList()) {
                tests.append(TestSource.of(name.group(2), name.group(3)));
            }
            for (Map.Entry<String, Pattern> status : STATUSES.entrySet()) {
                if (Pattern.compile("\\b" + status.getKey() + "\\b")
                        .matcher(cells.group(3))
                        .find()) {
                    statuses++;
                    if (!status.getValue().matcher(tests).find()) {
                        missing.add(cells.group(1) + ": " + status.getKey());
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(statuses).isGreaterThan(60);
    }

    private static boolean isTest(String prefix, String type, String method) throws IOException {
        List<Class<?>> classes = new ArrayList<>();
        for (Path file : TestSource.files(type)) {
            String name = TestSource.TESTS
                    .relativize(file)
                    .toString()
                    .replace(".java", "")
                    .replaceAll("[/\\\\]", ".");
            String parent = prefix == null ? "" : "." + prefix;
            if (name.endsWith(parent + "." + type)) {
                classes.add(load(name));
            }
        }
        return classes.stream()
                .flatMap(found -> Arrays.stream(found.getDeclaredMethods()))
                .anyMatch(found ->
                        found.getName().equals(method) && AnnotationSupport.isAnnotated(found, Testable.class));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, RobustnessPageTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(name + ": not compiled", e);
        }
    }
}
