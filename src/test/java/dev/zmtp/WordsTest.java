package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The words of the Javadoc and the pages, as docs/style.md has them. */
class WordsTest {

    private static final List<String> EXPORTED = List.of("", "codec", "security", "shm", "socket", "zap");

    private static final Pattern QUESTION = Pattern.compile("\\s*(?:What|How|Who|Where|When)\\s[^?]*");

    private static final Pattern DIALECT = Pattern.compile(
            "\\b(?:the most (?:bytes|messages|frames|of)|the greatest|as may(?: be)?|for ever|nobody|somebody|whoever"
                    + "|all the same|nevertheless|for good|in vain|for want of|by turns|mended)\\b",
            Pattern.CASE_INSENSITIVE);

    /** The text of a literal before "(expected: ...)" that is no value, but a sentence, or the state of a thing. */
    private static final Pattern NO_VALUE =
            Pattern.compile("[a-z](?:(?!: ).)*|.* (?:is|are|was|has|already) (?:(?!: ).)*", Pattern.CASE_INSENSITIVE);

    private static final Pattern BEFORE_EXPECTED = Pattern.compile("\"([^\"\n]*) \\(expected: ");

    /** A colon within a sentence. One before a list, code or an example ends its line or stands before a capital. */
    private static final Pattern COLON = Pattern.compile("(?<![A-Z]): (?=[a-z])");

    /** The maximum number of each for 1,000 words. */
    private static final Map<String, Double> RARE = Map.of("what", 1.5, "one", 3.0, "colon", 3.0);

    private static final Map<String, Pattern> PATTERNS = Map.of(
            "what", Pattern.compile("\\b[Ww]hat\\b"),
            "one", Pattern.compile("\\b[Oo]nes?\\b"),
            "colon", COLON);

    /** Shorter pages say little about a rate. */
    private static final int MIN_WORDS = 300;

    private static List<Prose> exported() throws IOException {
        List<Prose> comments = new ArrayList<>();
        for (String name : EXPORTED) {
            try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/zmtp", name))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    comments.addAll(Prose.ofJavadoc(file.getFileName().toString(), Files.readString(file)));
                }
            }
        }
        return comments;
    }

    private static List<Prose> pages() throws IOException {
        List<Prose> pages = new ArrayList<>();
        for (String name : List.of("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")) {
            pages.add(Prose.ofPage(Path.of(name)));
        }
        try (Stream<Path> files = Files.list(Path.of("docs"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".md")).toList()) {
                pages.add(Prose.ofPage(file));
            }
        }
        return pages;
    }

    private static List<String> dialect(Prose prose) {
        return DIALECT.matcher(prose.text())
                .results()
                .map(found -> prose.source() + ": " + found.group())
                .toList();
    }

    /** Returns which of the rare words are too many, with their rate for 1,000 words. */
    private static Map<String, Double> tooMany(List<Prose> prose) {
        long words = prose.stream().mapToLong(Prose::words).sum();
        Map<String, Double> rates = new TreeMap<>();
        PATTERNS.forEach((name, pattern) -> {
            long found = prose.stream().mapToLong(text -> text.count(pattern)).sum();
            double rate = Math.round(found * 10_000.0 / words) / 10.0;
            if (rate > RARE.get(name)) {
                rates.put(name, rate);
            }
        });
        return rates;
    }

    private static Stream<String> withoutValue(Path file) {
        try {
            return withoutValue(Files.readString(file)).map(text -> file.getFileName() + ": " + text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Stream<String> withoutValue(String java) {
        return BEFORE_EXPECTED
                .matcher(java)
                .results()
                .map(found -> found.group(1))
                .filter(text -> NO_VALUE.matcher(text).matches());
    }

    @Test
    void noCommentBeginsWithAQuestion() throws IOException {
        assertThat(exported())
                .filteredOn(comment -> QUESTION.matcher(comment.text()).lookingAt())
                .extracting(Prose::source)
                .isEmpty();
    }

    @Test
    void noSentenceIsInTheDialect() throws IOException {
        assertThat(Stream.concat(exported().stream(), pages().stream()).flatMap(prose -> dialect(prose).stream()))
                .isEmpty();
    }

    @Test
    void whatIsExpectedStandsAfterAValue() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".java")).flatMap(WordsTest::withoutValue))
                    .isEmpty();
        }
    }

    @Test
    void theJavadocNamesThings() throws IOException {
        assertThat(tooMany(exported())).isEmpty();
    }

    @Test
    void eachPageNamesThings() throws IOException {
        assertThat(pages())
                .filteredOn(page -> page.words() >= MIN_WORDS)
                .filteredOn(page -> !tooMany(List.of(page)).isEmpty())
                .extracting(page -> page.source() + " " + tooMany(List.of(page)))
                .isEmpty();
    }

    @Test
    void eachRuleNoticesItsFault() {
        Prose comment = Prose.ofJavadoc("A.java", "/** What it has: the most bytes of one, for {@code one}. */")
                .get(0);
        assertThat(comment.source()).isEqualTo("A.java:1");
        assertThat(QUESTION.matcher(comment.text()).lookingAt()).isTrue();
        assertThat(dialect(comment)).containsExactly("A.java:1: the most bytes");
        assertThat(tooMany(List.of(comment))).containsOnlyKeys("what", "one", "colon");
        assertThat(withoutValue("\"locked (expected: by none)\" + file + \" is there (expected: a name)\""))
                .containsExactly("locked", " is there");
        assertThat(withoutValue("\" bytes (expected: 1)\" \"limit: 0 (expected: 1)\" \" (expected: 2)\""))
                .isEmpty();
        assertThat(tooMany(List.of(Prose.ofPage("a.md", "Use it:\n\n    what: one\n\n| one: what |\n`one: what`"))))
                .isEmpty();
    }
}
