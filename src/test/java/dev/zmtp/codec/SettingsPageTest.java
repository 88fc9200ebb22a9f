package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that list settings have all of them, with their real defaults. */
class SettingsPageTest {

    /** A row of the table in the Javadoc of ZMTPConfig.Builder: the setting's name, and its default. */
    private static final Pattern JAVADOC_ROW = Pattern.compile(
            "<tr><th scope=\"row\">\\{@link ZMTPConfig#\\w+\\(\\) (\\w+)}</th>.*?<td>([^<]*)</td></tr>");

    /** A row of a page: a setting, or who acts, and the default. */
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\|.*$", Pattern.MULTILINE);

    /** The name of a setting at the beginning of a cell. */
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)");

    /** Limits that protect the peer, and not us. */
    private static final Set<String> OF_THE_PEER = Set.of("heartbeatTtl");

    private static List<Method> setters() {
        return Arrays.stream(ZMTPSettings.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .toList();
    }

    private static boolean isLimit(Method setter) {
        Class<?> type = setter.getParameterTypes()[0];
        return type == int.class || type == long.class || type == Duration.class || type == ZMTPMemoryBudget.class;
    }

    /** The default of each setting that is a number, a time or a boolean, as a page writes it. */
    private static Map<String, String> defaults() throws ReflectiveOperationException {
        ZMTPConfig config = ZMTPConfig.of(ZMTPSocketType.DEALER);
        Map<String, String> all = new TreeMap<>();
        for (Method setter : setters()) {
            String name = setter.getName();
            Class<?> type = setter.getParameterTypes()[0];
            if (type.isPrimitive() || type == Duration.class) {
                all.put(name, text(name, ZMTPConfig.class.getMethod(name).invoke(config)));
            }
        }
        all.put("heartbeatTimeout", "the interval");
        return all;
    }

    private static String text(String name, Object value) {
        if (value instanceof Duration time) {
            return time.isZero() ? "zero" : time.toSeconds() + " s";
        }
        if (!(value instanceof Number number)) {
            return value.toString();
        }
        long bytes = number.longValue();
        if (!name.endsWith("Length")) {
            return String.format(Locale.ROOT, "%,d", bytes);
        }
        return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }

    @Test
    void theBuilderListsEachSettingOnceWithItsDefault() throws IOException, ReflectiveOperationException {
        String source = Files.readString(Path.of("src/main/java/dev/zmtp/codec/ZMTPConfig.java"))
                .replaceAll("\\n *\\* ", "");
        List<MatchResult> rows = JAVADOC_ROW.matcher(source).results().toList();

        assertThat(rows)
                .extracting(row -> row.group(1))
                .containsExactlyInAnyOrderElementsOf(
                        setters().stream().map(Method::getName).collect(Collectors.toSet()));
        Map<String, String> listed = rows.stream().collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
        assertThat(listed).containsAllEntriesOf(defaults());
    }

    @Test
    void thePageOfDefencesHasEachLimitOnceWithItsDefault() throws IOException, ReflectiveOperationException {
        String page = Files.readString(Path.of("docs/defences.md"));
        List<MatchResult> rows = ROW.matcher(page).results().toList();
        Map<String, String> defaults = defaults();

        List<Method> limits = setters().stream()
                .filter(SettingsPageTest::isLimit)
                .filter(setter -> !OF_THE_PEER.contains(setter.getName()))
                .toList();
        assertThat(limits).hasSizeGreaterThan(12).allSatisfy(limit -> {
            String name = limit.getName();
            List<MatchResult> found = rows.stream()
                    .filter(row -> row.group(1).equals("`" + name + "`"))
                    .toList();
            assertThat(found).as(name).hasSize(1);
            assertThat(found.get(0).group(2)).as(name).startsWith(defaults.getOrDefault(name, ""));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"SECURITY.md", "docs/guide.md"})
    void aPageThatRepeatsADefaultIsRight(String page) throws IOException, ReflectiveOperationException {
        Map<String, String> defaults = defaults();
        List<MatchResult> rows = ROW.matcher(Files.readString(Path.of(page)))
                .results()
                .filter(row -> defaults.containsKey(settingOf(row)))
                .toList();
        assertThat(rows)
                .hasSizeGreaterThan(8)
                .allSatisfy(row -> assertThat(row.group(2)).as(row.group()).startsWith(defaults.get(settingOf(row))));
    }

    /** The name in the first cell, or nothing. */
    private static String settingOf(MatchResult row) {
        Matcher name = NAME.matcher(row.group(1));
        return name.lookingAt() ? name.group(1) : "";
    }

    @Test
    void thePageOfDefencesLinksToPagesThatExist() throws IOException {
        assertThat(LINK.matcher(Files.readString(Path.of("docs/defences.md"))).results())
                .hasSizeGreaterThan(10)
                .allSatisfy(link ->
                        assertThat(Path.of("docs").resolve(link.group(1))).exists());
    }
}
