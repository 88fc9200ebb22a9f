package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.transport.Lookup;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketSettings;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A setting is described by the Javadoc of its accessor. That, and what the builder's table and the pages repeat of it,
 * is what the code does.
 */
class SettingsPageTest {

    /** A row of the table in the Javadoc of ZMTPConfig.Builder: the setting's name, its bounds and its default. */
    private static final Pattern JAVADOC_ROW =
            Pattern.compile("<tr><th scope=\"row\">\\{@link ZMTPConfig#\\w+\\(\\) (\\w+)}</th><td>[^<]*</td>"
                    + "<td>([^<]*)</td><td>([^<]*)</td></tr>");

    /** A row of a page: a setting, or who acts, and the default. */
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\|.*$", Pattern.MULTILINE);

    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)");

    private static final Pattern LEAST = Pattern.compile("at least (\\d+)( ms)?");

    /** Limits that protect the peer, and not us. */
    private static final Set<String> OF_THE_PEER = Set.of("heartbeatTtl");

    private static final Kind CODEC =
            new Kind(ZMTPConfig.class, ZMTPSettings.class, ZMTPConfig.of(ZMTPSocketType.DEALER), ZMTPConfig::builder);

    private static final Kind SOCKET = new Kind(
            ZMTPSocketConfig.class,
            ZMTPSocketSettings.class,
            ZMTPSocketConfig.of(ZMTPSocketType.DEALER),
            () -> ZMTPSocketConfig.builder(ZMTPSocketType.DEALER));

    static List<Kind> kinds() {
        return List.of(CODEC, SOCKET);
    }

    /** The settings of codecs or of sockets: a config with its accessors, and the class of its setters. */
    private record Kind(Class<?> config, Class<?> settings, Object defaults, Supplier<?> builder) {

        List<Method> accessors() {
            Set<String> others = Set.of("toString", "toBuilder", "socketType", "codec");
            return publicMethods(config)
                    .filter(method -> !Modifier.isStatic(method.getModifiers()) && !others.contains(method.getName()))
                    .toList();
        }

        List<Method> setters() {
            return publicMethods(settings).toList();
        }

        private static Stream<Method> publicMethods(Class<?> type) {
            return Arrays.stream(type.getDeclaredMethods())
                    .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic());
        }

        /** Returns the text of an accessor's Javadoc, in one line and without tags. */
        String javadoc(String accessor) throws IOException {
            String doc = "/\\*\\*((?:(?!\\*/).)*)\\*/\\s+public [^;={]* " + accessor + "\\(\\) \\{";
            Matcher found = Pattern.compile(doc, Pattern.DOTALL).matcher(source());
            assertThat(found.find()).as(accessor).isTrue();
            return withoutTags(found.group(1));
        }

        String source() throws IOException {
            return Files.readString(Path.of("src/main/java", config.getName().replace('.', '/') + ".java"));
        }
    }

    private static String withoutTags(String javadoc) {
        return javadoc.replaceAll("\\s*\\n *\\* ?", " ")
                .replaceAll("\\{@(?:link|code) (?:\\w*#)?(\\w+)(?:\\(\\))?}", "$1");
    }

    private static boolean isValue(Method setter) {
        Class<?> type = setter.getParameterTypes()[0];
        return type.isPrimitive() || type == Duration.class;
    }

    private static boolean isLimit(Method setter) {
        Class<?> type = setter.getParameterTypes()[0];
        return type == ZMTPMemoryBudget.class || (isValue(setter) && type != boolean.class);
    }

    /** The real default of each setting, by the name of its accessor, as the Javadoc writes it. */
    private static Map<String, String> defaults(Kind kind) throws ReflectiveOperationException {
        Map<String, String> all = new TreeMap<>();
        for (Method accessor : kind.accessors()) {
            all.put(accessor.getName(), text(accessor.getName(), accessor.invoke(kind.defaults)));
        }
        all.replace("heartbeatTimeout", "the interval");
        all.replace("overflowPolicy", "that of the socket's type");
        all.replace("pipelineInitializer", "one that adds none");
        all.replace("maxSubscriptionsMemory", "an eighth of the heap");
        return all;
    }

    /** Those of the codec, as pages write them. */
    private static Map<String, String> onPages() throws ReflectiveOperationException {
        long heap = Runtime.getRuntime().maxMemory();
        long direct = PlatformDependent.maxDirectMemory(); // 0 or less if it is not known
        assertThat(ZMTPMemoryBudget.shared().limit()).isEqualTo(Math.min(heap, direct <= 0 ? heap : direct) / 4);
        Map<String, String> all = defaults(CODEC);
        all.put("memoryBudget", "a quarter of the heap or of");
        all.put("maxSubscriptionsMemory", "an eighth of the heap");
        all.put(
                "handshakeExecutor",
                "half as many threads as processors, " + grouped(HandshakeExecutor.MAX_WAITING) + " waiting");
        all.put("ZMTPConnectionLimiter", "none; add it yourself");
        all.put(
                "ZMTPHandshakeLimiter",
                "none; add it yourself. Then " + grouped(ZMTPHandshakeLimiter.DEFAULT_MAX_TOTAL) + " in total, "
                        + grouped(ZMTPHandshakeLimiter.DEFAULT_MAX_PER_ADDRESS) + " per address");
        return all;
    }

    private static String text(String name, Object value) {
        if (value instanceof Duration time) {
            if (time.isZero() || time.equals(Settings.FOREVER)) {
                return time.isZero() ? "zero" : "no limit";
            }
            return time.toMillis() < 1_000 ? time.toMillis() + " ms" : time.toSeconds() + " s";
        }
        if (value instanceof Number number) {
            boolean length = name.endsWith("Length") || name.endsWith("Bytes");
            return length ? bytes(number.longValue()) : grouped(number.longValue());
        }
        if (value instanceof ZMTPVersion version) {
            return version.name().replaceAll("ZMTP(\\d)(\\d)", "ZMTP $1.$2");
        }
        if (value == null || value == ZMTPMetadata.EMPTY || value.equals(Map.of())) {
            return "none";
        }
        if (value.equals("") || (value instanceof ByteBuffer buffer && !buffer.hasRemaining())) {
            return "empty";
        }
        return nameOf(value);
    }

    private static String nameOf(Object value) {
        if (value == ZMTPMemoryBudget.shared()) {
            return "shared";
        }
        if (value == HandshakeExecutor.shared()) {
            return "threads of the library";
        }
        if (value == ZMTPWebSocket.DEFAULT) {
            return "no origin";
        }
        if (value == Lookup.SHARED) {
            return "up to eight daemon threads";
        }
        if (value instanceof ZMTPHandshakeLimiter) {
            return "one with the defaults of its class";
        }
        if (value == ZMTPNull.mechanism()) {
            return "NULL";
        }
        return value == ZMTPIdentityGenerator.sequential() ? "sequential" : value.toString();
    }

    private static String bytes(long bytes) {
        return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
    }

    private static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** Checks that the text begins with the default, and that a number ends there. */
    private static void assertDefault(String name, String text, String expected) {
        assertThat(text).as(name).containsPattern("^" + Pattern.quote(expected) + "(?![,.]?\\d)");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theAccessorSaysTheRealDefault(Kind kind) throws IOException, ReflectiveOperationException {
        Map<String, String> defaults = defaults(kind);
        assertThat(defaults).hasSizeGreaterThan(20);
        for (Map.Entry<String, String> setting : defaults.entrySet()) {
            String doc = kind.javadoc(setting.getKey());
            assertThat(doc).as(setting.getKey()).containsOnlyOnce("Default: ");
            assertDefault(setting.getKey(), doc.replaceFirst(".*Default: ", ""), setting.getValue());
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theAccessorSaysTheRealLeastValue(Kind kind) throws IOException, ReflectiveOperationException {
        int checked = 0;
        for (Method setter : kind.setters()) {
            if (setter.getParameterCount() == 1 && isValue(setter) && isLimit(setter)) {
                Matcher least = LEAST.matcher(kind.javadoc(setter.getName()));
                if (least.find()) {
                    assertLeast(kind, setter, Integer.parseInt(least.group(1)));
                    checked++;
                }
            }
        }
        assertThat(checked).isGreaterThanOrEqualTo(6);
    }

    /** Checks that the value is accepted, and the one before it is not. */
    private static void assertLeast(Kind kind, Method setter, int least) throws ReflectiveOperationException {
        Class<?> type = setter.getParameterTypes()[0];
        Duration time = Duration.ofMillis(least);
        Object atBound = type == Duration.class ? (Object) time : (Object) least;
        Object below = type == Duration.class ? (Object) time.minusNanos(1) : (Object) (least - 1);

        setter.invoke(kind.builder.get(), atBound);
        assertThatThrownBy(() -> setter.invoke(kind.builder.get(), below))
                .as(setter.getName())
                .isInstanceOf(InvocationTargetException.class)
                .hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theBuilderListsEachSettingOnceAsItsAccessorDoes() throws IOException, ReflectiveOperationException {
        String source = CODEC.source().replaceAll("\\n *\\* ", "");
        List<MatchResult> rows = JAVADOC_ROW.matcher(source).results().toList();

        assertThat(rows)
                .extracting(row -> row.group(1))
                .containsExactlyInAnyOrderElementsOf(
                        CODEC.setters().stream().map(Method::getName).collect(Collectors.toSet()));
        Map<String, String> defaults = defaults(CODEC);
        defaults.put("socketType", "none");
        defaults.put("property", defaults.get("properties"));
        for (MatchResult row : rows) {
            String name = row.group(1);
            assertDefault(name, withoutTags(row.group(3)), defaults.get(name));
            Matcher least = LEAST.matcher(row.group(2));
            if (least.find()) {
                assertThat(LEAST.matcher(CODEC.javadoc(name)).results().map(MatchResult::group))
                        .as(name)
                        .contains(least.group());
            }
        }
    }

    @Test
    void thePageOfDefencesHasEachLimitOnceAndRealDefaults() throws IOException, ReflectiveOperationException {
        String page = Files.readString(Path.of("docs/defences.md"));
        assertLimitsOnce(page, OF_THE_PEER);
        Map<String, String> defaults = onPages();
        defaults.put("identity", Greeting.MAX_IDENTITY_LENGTH + " bytes");
        defaults.put("greeting", "64 bytes");
        for (MatchResult row : rows(page)) {
            String who = row.group(1);
            if (who.startsWith("`")) {
                assertDefault(who, row.group(2), expected(who, defaults));
            } else {
                assertThat(who).as("neither a setting nor fixed").matches(".*\\((fixed|either limiter)\\)");
                String known = defaults.get(who.replace(" (fixed)", ""));
                if (known != null) {
                    assertDefault(who, row.group(2), known);
                }
            }
        }
    }

    @Test
    void theGuideHasEachLimitOnceAndRealDefaults() throws IOException, ReflectiveOperationException {
        String limits = section(Path.of("docs/guide.md"), "### Limits");
        assertLimitsOnce(limits, Set.of());
        assertDefaults(limits, onPages());
    }

    @Test
    void thePageOfSocketsHasEachSettingOnceAndItsRealDefault() throws IOException, ReflectiveOperationException {
        String settings = section(Path.of("docs/sockets.md"), "## Settings");
        Map<String, String> all = defaults(SOCKET);
        for (String limit : List.of("sendQueueLimit", "receiveQueueLimit")) {
            all.put(limit, all.get(limit + "Messages") + " messages, " + all.get(limit + "Bytes"));
        }
        all.put("reconnectDelay", all.get("initialReconnectDelay") + ", " + all.get("maxReconnectDelay"));
        ZMTPConfig codec = ZMTPSocketConfig.of(ZMTPSocketType.DEALER).codec();
        Map<String, String> ofCodec = Map.of(
                "heartbeatInterval", text("", codec.heartbeatInterval()),
                "heartbeatTimeout", text("", codec.heartbeatTimeout()),
                "heartbeatZMTP30Peers", text("", codec.heartbeatZMTP30Peers()));
        all.putAll(ofCodec);

        assertThat(rows(settings))
                .extracting(SettingsPageTest::settingOf)
                .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                SOCKET.setters().stream()
                                        .filter(SettingsPageTest::isValue)
                                        .map(Method::getName),
                                ofCodec.keySet().stream())
                        .toList());
        assertDefaults(settings, all);
    }

    /** The rows below the heads of the tables. */
    private static List<MatchResult> rows(String page) {
        return ROW.matcher(page)
                .results()
                .filter(row -> !row.group(1).matches("-+|who acts|setting"))
                .toList();
    }

    private static String section(Path page, String heading) throws IOException {
        String text = Files.readString(page);
        int start = text.indexOf("\n" + heading + "\n") + heading.length() + 2;
        assertThat(start).as(heading).isGreaterThan(heading.length() + 1);
        Matcher next = Pattern.compile("^#", Pattern.MULTILINE).matcher(text);
        return next.find(start) ? text.substring(start, next.start()) : text.substring(start);
    }

    private static void assertLimitsOnce(String page, Set<String> without) {
        List<String> limits = CODEC.setters().stream()
                .filter(SettingsPageTest::isLimit)
                .map(Method::getName)
                .filter(name -> !without.contains(name))
                .toList();
        List<String> listed =
                rows(page).stream().map(SettingsPageTest::settingOf).toList();
        assertThat(limits)
                .hasSizeGreaterThan(12)
                .allSatisfy(
                        limit -> assertThat(listed).filteredOn(limit::equals).hasSize(1));
    }

    private static void assertDefaults(String page, Map<String, String> defaults) {
        assertThat(rows(page)).hasSizeGreaterThan(12).allSatisfy(row -> {
            assertThat(defaults).containsKey(settingOf(row));
            assertDefault(settingOf(row), row.group(2), defaults.get(settingOf(row)));
        });
    }

    /** The defaults of all settings that the cell names. */
    private static String expected(String cell, Map<String, String> defaults) {
        return NAME.matcher(cell)
                .results()
                .map(name -> {
                    assertThat(defaults).containsKey(name.group(1));
                    return defaults.get(name.group(1));
                })
                .collect(Collectors.joining(", "));
    }

    /** The name in the first cell, or nothing. */
    private static String settingOf(MatchResult row) {
        Matcher name = NAME.matcher(row.group(1));
        return name.lookingAt() ? name.group(1) : "";
    }

    @Test
    void noOtherPageRepeatsANumber() throws IOException, ReflectiveOperationException {
        Map<String, String> defaults = defaults(SOCKET);
        defaults.putAll(defaults(CODEC));
        Path guide = Path.of("docs/guide.md");
        Path sockets = Path.of("docs/sockets.md");
        Map<Path, String> lists = Map.of(guide, section(guide, "### Limits"), sockets, section(sockets, "## Settings"));
        try (Stream<Path> top = Files.list(Path.of(""));
                Stream<Path> docs = Files.list(Path.of("docs"))) {
            List<Path> pages = Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md") && !path.endsWith("defences.md"))
                    .toList();
            assertThat(pages).hasSizeGreaterThan(15).containsAll(lists.keySet());
            for (Path page : pages) {
                String text = Files.readString(page).replace(lists.getOrDefault(page, "no list"), "");
                for (Map.Entry<String, String> setting : defaults.entrySet()) {
                    String number = Pattern.quote(setting.getValue());
                    if (setting.getValue().matches("\\d.*")) {
                        assertThat(text)
                                .as("%s (expected: a link)", page)
                                .doesNotContainPattern("`" + setting.getKey() + "`\\W{1,4}" + number);
                    }
                }
            }
        }
    }

    @Test
    void thePageOfDefencesLinksToPagesThatExist() throws IOException {
        assertThat(LINK.matcher(Files.readString(Path.of("docs/defences.md"))).results())
                .hasSizeGreaterThan(10)
                .allSatisfy(link ->
                        assertThat(Path.of("docs").resolve(link.group(1))).exists());
    }
}
