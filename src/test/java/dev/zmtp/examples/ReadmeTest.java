package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that show code quote it from programs that compile and run, and link to files that exist. */
class ReadmeTest {

    private static final Path EXAMPLES = Path.of("src/test/java/dev/zmtp/examples");
    private static final Path PROJECTS = Path.of("src/build/consumers");
    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK_TO_EXAMPLE = Pattern.compile("/examples/(\\w+)\\.java\\)");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(?:#[^)]*)?\\)");

    private static final Pattern LINK_TO_SECTION = Pattern.compile("\\]\\(([^)#:]*)#([^)]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.+)$", Pattern.MULTILINE);

    @Test
    @Tag("netty-4.2-only")
    @Timeout(60)
    void theServerAndTheClientInAPipelineTalkToEachOther() throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            List<String> answers = new ArrayList<>();
            InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            Channel server = EchoRouter.bind(group, NioServerSocketChannel.class, anyPort)
                    .sync()
                    .channel();

            Channel client = DealerClient.connect(
                            group, server.localAddress(), 3, answer -> answers.add(answer.toString()))
                    .sync()
                    .channel();

            assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(answers)
                    .containsExactly(
                            "ZMTPMessage{[\"request\",\"number 1\"]}",
                            "ZMTPMessage{[\"request\",\"number 2\"]}",
                            "ZMTPMessage{[\"request\",\"number 3\"]}");
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "docs/guide.md",
                "docs/transports.md",
                "docs/sockets.md",
                "docs/shutdown.md",
                "docs/low-latency.md",
                "docs/observing.md",
                "docs/testing.md"
            })
    void itsJavaBlocksAreQuotedFromProgramsThatTestsRun(String page) throws IOException {
        String text = Files.readString(Path.of(page));
        String tests = examples("Test.java", ReadmeTest::text);
        List<MatchResult> blocks = JAVA_BLOCK.matcher(text).results().toList();

        assertThat(blocks).isNotEmpty().allSatisfy(block -> {
            String program = lastExampleNamedIn(text.substring(0, block.start()));
            assertThat(squeezed(EXAMPLES.resolve(program + ".java"))).contains(squeezed(block.group(1)));
            String use = program.endsWith("Test") ? "class " + program + " " : "\\b" + program + "[.(]";
            assertThat(tests).containsPattern(use);
        });
    }

    private static String examples(String end, Function<Path, String> read) throws IOException {
        return sources(EXAMPLES, end, read);
    }

    private static String sources(Path directory, String end, Function<Path, String> read) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(end)).map(read).collect(Collectors.joining("\n"));
        }
    }

    private static String lastExampleNamedIn(String text) {
        return LINK_TO_EXAMPLE
                .matcher(text)
                .results()
                .map(link -> link.group(1))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/securing-a-service.md", "docs/writing-a-mechanism.md"})
    void itsJavaBlocksCompile(String page) throws IOException {
        assertQuotedFrom(EXAMPLES, page, 3);
    }

    @Test
    void theJavaBlocksAboutWebSocketCompile() throws IOException {
        assertQuotedFrom(EXAMPLES, "docs/web.md", 1);
    }

    @Test
    void theJavaBlocksOfFrameworksAreQuotedFromProjectsOfUsers() throws IOException {
        assertQuotedFrom(PROJECTS, "docs/integrations.md", 2);
    }

    private static void assertQuotedFrom(Path directory, String page, int moreThan) throws IOException {
        String programs = sources(directory, ".java", ReadmeTest::squeezed);
        List<MatchResult> blocks =
                JAVA_BLOCK.matcher(Files.readString(Path.of(page))).results().toList();

        assertThat(blocks)
                .hasSizeGreaterThan(moreThan)
                .allSatisfy(block -> assertThat(programs).contains(squeezed(block.group(1))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "CHANGELOG.md",
                "SECURITY.md",
                "docs/guide.md",
                "docs/transports.md",
                "docs/sockets.md",
                "docs/shutdown.md",
                "docs/migrating.md",
                "docs/low-latency.md",
                "docs/securing-a-service.md",
                "docs/writing-a-mechanism.md",
                "docs/attacks.md",
                "docs/examples.md",
                "docs/troubleshooting.md",
                "docs/versions.md",
                "docs/observing.md",
                "docs/cli.md",
                "docs/testing.md",
                "docs/web.md",
                "docs/integrations.md",
                "RELEASE.md"
            })
    void itsLinksLeadToFiles(String page) throws IOException {
        Path file = Path.of(page);
        List<String> links = LINK.matcher(Files.readString(file))
                .results()
                .map(link -> link.group(1))
                .toList();

        assertThat(links)
                .isNotEmpty()
                .allSatisfy(link -> assertThat(file.resolveSibling(link)).exists());
    }

    @Test
    void itsLinksToSectionsLeadToHeadings() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            LINK_TO_SECTION.matcher(text(page)).results().forEach(link -> {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                if (target.toString().endsWith(".md") && !sections(target).contains(link.group(2))) {
                    broken.add(page + ": " + link.group());
                }
            });
        }

        assertThat(broken).isEmpty();
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> root = Files.list(Path.of(""));
                Stream<Path> docs = Files.walk(Path.of("docs"))) {
            return Stream.concat(root, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    /** The anchors that GitHub gives the headings of a page. */
    private static List<String> sections(Path page) {
        return HEADING.matcher(text(page))
                .results()
                .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
                .map(heading -> heading.replaceAll("[^\\p{L}\\p{N}_\\- ]", "").replace(' ', '-'))
                .toList();
    }

    private static String squeezed(Path file) {
        return squeezed(text(file));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s+", ""); // a page may break its lines elsewhere
    }
}
