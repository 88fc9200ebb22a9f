package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.testing.TestSockets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each command with the name of a socket type, with the command of the other side as its peer. */
class CommandPairsTest {

    /** A command that binds, a command that connects, and their outputs. */
    record Pair(String binds, String connects, String outputOfBound, String outputOfConnected) {}

    private static final List<Pair> PAIRS = List.of(
            new Pair("rep --echo -n 1", "req -D hello", "hello\n", "hello\n"),
            new Pair("router --echo -n 1", "dealer -D hello", "hello\n", "hello\n"),
            new Pair("server --echo -n 2", "client -D hello -n 2", "hello\nhello\n", "hello\nhello\n"),
            new Pair("pull -n 1", "push -D hello", "hello\n", ""),
            new Pair("gather -n 1", "scatter -D hello", "hello\n", ""),
            new Pair("pub -D hello", "sub -n 1", "", "hello\n"),
            new Pair("radio -g room -D hello", "dish -g room -n 1", "", "room\thello\n"),
            new Pair("xpub -D hello -n 1", "xsub -n 1", "subscribe\t\n", "hello\n"),
            new Pair("pair -D there -n 1", "pair -D here -n 1", "here\n", "there\n"),
            new Pair("channel -D there -n 1", "channel -D here -n 1", "here\n", "there\n"));

    @TempDir
    private Path directory;

    private static Stream<Pair> pairs() {
        return PAIRS.stream();
    }

    private String[] line(String command, String... more) {
        return Stream.of(command.split(" "), new String[] {"-w", "20s"}, more)
                .flatMap(Arrays::stream)
                .toArray(String[]::new);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void aCommandExchangesMessagesWithTheCommandOfTheOtherSide(Pair pair) {
        String endpoint = "ipc://" + directory.resolve("pair");
        CompletableFuture<CommandRun> bound = CliTest.begin("", line(pair.binds, "-b", endpoint));

        CommandRun connected = CommandRun.of("", line(pair.connects, endpoint));

        assertThat(connected).isEqualTo(new CommandRun(ExitCode.OK, pair.outputOfConnected, ""));
        assertThat(TestSockets.get(bound)).isEqualTo(new CommandRun(ExitCode.OK, pair.outputOfBound, ""));
    }

    @Test
    void aPeerPrintsTheRoutingIdBeforeAMessage(TestSockets sockets) {
        String endpoint = "ipc://" + directory.resolve("peer");
        CompletableFuture<CommandRun> bound = CliTest.begin("", line("peer -f hex -n 1", "-b", endpoint));

        TestSockets.get(TestSockets.connect(sockets.open(ZMTPSocketType.PEER), endpoint)
                .sendAsync(TestSockets.message("hello")));

        assertThat(TestSockets.get(bound).output()).matches("[0-9a-f]{8} 68656c6c6f\n");
    }

    @Test
    void everySocketTypeHasAPair() {
        assertThat(pairs().flatMap(pair -> Stream.of(pair.binds, pair.connects)).map(line -> line.split(" ", 2)[0]))
                .containsAll(Stream.of(ZMTPSocketType.values())
                        .filter(type -> type != ZMTPSocketType.PEER) // which has a test of its own
                        .map(type -> type.name().toLowerCase(Locale.ROOT))
                        .toList());
    }
}
