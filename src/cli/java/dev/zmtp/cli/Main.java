package dev.zmtp.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** The program {@code zmtp}, which speaks each pattern of ZeroMQ from a shell. */
@Command(
        name = "zmtp",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Speaks each pattern of ZeroMQ from a shell.",
        footer = {"", "zmtp COMMAND --help shows the options and examples of a command."})
public final class Main implements Runnable {

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"netty-zmtp " + (version == null ? "(not packaged)" : version)};
        }
    }

    private static final String NETTY_EVENTS = "io.netty.jfr.enabled";

    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        if (System.getProperty(NETTY_EVENTS) == null) {
            System.setProperty(NETTY_EVENTS, "false"); // generating the events of buffers takes a tenth of the start
        }
        System.exit(run(Console.ofProcess(), arguments));
    }

    /** Runs a command and returns its exit code. */
    static int run(Console console, String... arguments) {
        Diagnostics.install(console, false, 0);
        CommandLine program = commandLine(console, arguments.length == 0 ? "" : arguments[0]);
        int code = program.execute(arguments);
        try {
            console.flush();
        } catch (Console.ClosedOutputException e) {
            return ExitCode.OK;
        } catch (CliException e) {
            return code == ExitCode.OK ? failed(console, e) : code; // which was reported before
        }
        return code;
    }

    /** Returns the program with the command of this name, or all commands if none has it. */
    static CommandLine commandLine(Console console, String name) {
        CommandLine program = new CommandLine(new Main());
        Commands.add(program, console, name);
        program.setExpandAtFiles(false); // @FILE is a value of --server-key
        program.setAllowOptionsAsOptionParameters(true); // a key can begin with - and the letter of an option
        program.setOut(new PrintWriter(new ConsoleWriter(console), true));
        program.setErr(new PrintWriter(console.errors(), true, StandardCharsets.UTF_8));
        program.setParameterExceptionHandler((e, args) -> wrongUsage(console, e));
        program.setExecutionExceptionHandler((e, command, result) -> failed(console, e));
        return program;
    }

    @Override
    public void run() {
        throw new ParameterException(new CommandLine(this), "no command (expected: one of those in zmtp --help)");
    }

    private static int wrongUsage(Console console, ParameterException e) {
        console.complain(text(e));
        return ExitCode.USAGE;
    }

    private static int failed(Console console, Exception e) {
        if (e instanceof Console.ClosedOutputException) {
            return ExitCode.OK;
        }
        if (e instanceof InterruptedException) {
            return ExitCode.INTERRUPTED;
        }
        console.complain(text(e));
        return e instanceof CliException known ? known.exitCode() : ExitCode.FAILED;
    }

    /** Returns what a user reads about a failure, a single line. */
    static String text(Throwable failure) {
        if (failure instanceof ExecutionException && failure.getCause() != null) {
            return text(failure.getCause());
        }
        String message = failure.getMessage();
        if (failure instanceof java.nio.file.NoSuchFileException) {
            return "no such file: " + message;
        }
        if (failure instanceof java.nio.file.AccessDeniedException) {
            return "no permission: " + message;
        }
        if (failure instanceof java.nio.file.FileAlreadyExistsException) {
            return "the file exists: " + message;
        }
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
