package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Asks and prints the answers: {@code req}, {@code dealer} and {@code client}. */
final class RequestCommand extends SocketCommand {

    @Mixin
    private InputOptions input = new InputOptions();

    @Option(
            names = "--raw-frames",
            description = "dealer: sends and prints all frames, without the envelope of a request.")
    private boolean rawFrames;

    RequestCommand(Console console, ZMTPSocketType type) {
        super(console, type);
    }

    @Override
    String description() {
        return "Sends each line of standard input, or -D or -F, as a request with a " + type
                + ", and prints the answer.";
    }

    @Override
    List<String> examples(String name) {
        return List.of(
                "  echo hello | zmtp " + name + " tcp://10.0.0.7:5555",
                "  zmtp " + name + " -w 2s -D status tcp://10.0.0.7:5555",
                "  zmtp " + name + " -f json tcp://10.0.0.7:5555 < requests.json");
    }

    @Override
    void check() {
        super.check();
        if (rawFrames && type != ZMTPSocketType.DEALER) {
            throw new CliException(ExitCode.USAGE, "--raw-frames: " + type + " (expected: dealer)");
        }
    }

    @Override
    void run(ZMTPSocket socket) throws Exception {
        InputOptions.Source source = input.source(console, print.format(), count);
        Duration limit = Objects.requireNonNullElse(wait, NO_LIMIT);
        input.forEach(source, count, next -> {
            if (rawFrames || type == ZMTPSocketType.CLIENT) { // whose messages have no envelope
                socket.send(Frames.message(next), limit);
                print.print(console, null, receive(socket).frames());
            } else {
                ZMTPMessage answer = socket.request(Frames.message(next), limit);
                print.print(console, null, Frames.take(answer));
            }
        });
    }
}
