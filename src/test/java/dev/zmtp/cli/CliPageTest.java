package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The page about the command line has every command and option, and no other. */
class CliPageTest {

    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]+");
    private static final Path PAGE = Path.of("docs/cli.md");

    private static void collect(CommandLine command, Set<String> commands, Set<String> options) {
        command.getSubcommands().forEach((name, its) -> {
            commands.add(name);
            collect(its, commands, options);
        });
        command.getCommandSpec().options().forEach(option -> options.add(option.longestName()));
    }

    @Test
    @Tag("T125")
    void everyOptionAndCommandIsOnThePage() throws IOException {
        Console nowhere = new Console(
                new ByteArrayInputStream(new byte[0]),
                new ByteArrayOutputStream(),
                new PrintStream(new ByteArrayOutputStream()));
        Set<String> commands = new TreeSet<>();
        Set<String> options = new TreeSet<>();
        collect(Main.commandLine(nowhere, ""), commands, options);
        String page = Files.readString(PAGE);

        Set<String> onPage =
                OPTION.matcher(page).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));

        assertThat(onPage).isEqualTo(options);
        assertThat(commands).allSatisfy(name -> assertThat(page).containsPattern("`(perf )?" + name + "\\b"));
    }
}
