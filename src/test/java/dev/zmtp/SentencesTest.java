package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each sentence of {@code sentences.txt} about the sockets has a test, which {@code mvn verify -Dgroups=T38} runs. */
class SentencesTest {

    private static final Path TESTS = Path.of("src/test/java");
    private static final Pattern SENTENCE = Pattern.compile("(\\d+) ([x-]) \\S.*");
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"T(\\d+)\"\\)");

    @Test
    void eachSentenceHasATest() throws IOException {
        Map<Integer, Set<String>> tests = tests();

        List<String> missing = new ArrayList<>();
        for (MatchResult sentence : sentences()) {
            Set<String> its = tests.getOrDefault(Integer.valueOf(sentence.group(1)), Set.of());
            boolean withOthers = sentence.group(2).equals("x");
            if (its.isEmpty() || (withOthers && its.stream().noneMatch(name -> name.endsWith("IT.java")))) {
                missing.add(sentence.group());
            }
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void eachTagIsThatOfASentence() throws IOException {
        Set<Integer> numbers = new TreeSet<>();
        sentences().forEach(sentence -> numbers.add(Integer.valueOf(sentence.group(1))));

        assertThat(tests().keySet()).isSubsetOf(numbers);
    }

    private static List<MatchResult> sentences() throws IOException {
        List<MatchResult> sentences = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("src/test/resources/sentences.txt"))) {
            if (!line.startsWith("#")) {
                var matcher = SENTENCE.matcher(line);
                assertThat(matcher.matches()).as(line).isTrue();
                sentences.add(matcher.toMatchResult());
            }
        }
        assertThat(sentences).extracting(sentence -> sentence.group(1)).doesNotHaveDuplicates();
        return sentences;
    }

    /** The files with tests of each sentence. */
    private static Map<Integer, Set<String>> tests() throws IOException {
        Map<Integer, Set<String>> tests = new TreeMap<>();
        try (Stream<Path> files = Files.walk(TESTS)) {
            for (Path file :
                    files.filter(name -> name.toString().endsWith(".java")).toList()) {
                TAG.matcher(Files.readString(file))
                        .results()
                        .forEach(tag -> tests.computeIfAbsent(Integer.valueOf(tag.group(1)), number -> new TreeSet<>())
                                .add(file.getFileName().toString()));
            }
        }
        return tests;
    }
}
