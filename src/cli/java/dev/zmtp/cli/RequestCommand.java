package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;

/** Asks and prints the answers: {@code req}, {@code dealer} and {@code client}. */
final class RequestCommand extends SocketCommand {

    @Mixin
    private InputOptions input = new InputOptions();

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
    void run(ZMTPSocket socket) throws Exception {
        InputOptions.Source source = input.source(console, print.format(), count);
        Duration limit = Objects.requireNonNullElse(wait, NO_LIMIT);
        long left = count;
        for (List<byte[]> next = source.next(); next != null && left-- > 0; next = left == 0 ? null : source.next()) {
            ZMTPMessage answer = socket.request(Frames.message(next), limit);
            print.print(console, null, Frames.take(answer));
            Duration pause = input.interval();
            if (pause != null) {
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            }
        }
    }
}
