package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPReceived;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that has the name of a socket type. */
@Command(mixinStandardHelpOptions = true, sortOptions = false)
abstract class SocketCommand implements Callable<Integer> {

    /** Longer than anybody waits. */
    static final Duration NO_LIMIT = Duration.ofDays(365);

    final Console console;
    final ZMTPSocketType type;

    @Mixin
    final SocketOptions options = new SocketOptions();

    @Mixin
    final PrintOptions print = new PrintOptions();

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "Ends after N messages.")
    long count = Long.MAX_VALUE;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Fails with exit code 3 if nothing comes for so long, such as 2s or 500ms.")
    @Nullable
    Duration wait;

    SocketCommand(Console console, ZMTPSocketType type) {
        this.console = console;
        this.type = type;
    }

    /** Returns what the command does, in one sentence. */
    abstract String description();

    /** Returns lines that a user can copy. */
    abstract List<String> examples(String name);

    /** Called before the socket has a peer. */
    void prepare(ZMTPSocket socket) {}

    abstract void run(ZMTPSocket socket) throws Exception;

    @Override
    public Integer call() throws Exception {
        check();
        ZMTPSocket socket = options.open(console, options.config(type), this::prepare);
        try {
            run(socket);
        } catch (Console.ClosedOutputException | InterruptedException e) {
            SocketOptions.report(console, options.abort(socket), true);
            throw e;
        } catch (Exception e) { // what was sent before is delivered all the same
            SocketOptions.report(console, options.close(socket), true);
            throw isTimeout(e) ? tooLate() : e;
        }
        console.flush();
        SocketOptions.report(console, options.close(socket), false);
        return ExitCode.OK;
    }

    private static boolean isTimeout(Exception e) {
        return e instanceof ZMTPSocketException known && known.reason() == ZMTPSocketException.Reason.TIMEOUT;
    }

    /** Checks options before the socket is opened. */
    void check() {
        if (count < 1) {
            throw new CliException(ExitCode.USAGE, "--count: " + count + " (expected: at least 1)");
        }
    }

    private static String text(@Nullable Duration time) {
        return time == null ? "the time" : time.toMillis() + " ms";
    }

    /** The next message, with its peer if the type of the socket knows it. */
    record Received(@Nullable ZMTPPeer peer, List<byte[]> frames) {}

    /** Returns the maximum time to wait for a message. */
    Duration limit() {
        return Objects.requireNonNullElse(wait, NO_LIMIT);
    }

    Received receive(ZMTPSocket socket) throws InterruptedException {
        Duration limit = limit();
        if (type == ZMTPSocketType.REP || type == ZMTPSocketType.PEER) { // a PEER prints names, and reads them
            ZMTPMessage message = socket.receive(limit);
            if (message == null) {
                throw tooLate();
            }
            return new Received(null, Frames.take(message));
        }
        ZMTPReceived next = socket.receiveFrom(limit);
        if (next == null) {
            throw tooLate();
        }
        return new Received(next.peer(), Frames.take(next.message()));
    }

    CliException tooLate() {
        console.flush();
        return new CliException(ExitCode.TIMEOUT, "nothing came within " + text(wait));
    }
}
