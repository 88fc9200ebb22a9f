package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sends messages: {@code pub}, {@code push}, {@code radio} and {@code scatter}. */
final class SendCommand extends SocketCommand {

    @Mixin
    private InputOptions input = new InputOptions();

    @Option(
            names = "--wait-peers",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "pub, radio: sends when N subscribers are there, because earlier messages would be lost. Default: 1.")
    private int peers = 1;

    @Option(
            names = {"-g", "--group"},
            paramLabel = "GROUP",
            description = "radio: sends to the group.")
    private @Nullable String group;

    SendCommand(Console console, ZMTPSocketType type) {
        super(console, type);
    }

    @Override
    String description() {
        return "Sends each line of standard input, or -D or -F, with a " + type + ".";
    }

    @Override
    List<String> examples(String name) {
        String to = type == ZMTPSocketType.RADIO ? " -g room" : "";
        return List.of(
                "  zmtp " + name + to + " -D hello tcp://10.0.0.7:5555",
                "  zmtp " + name + to + " -F picture.png tcp://10.0.0.7:5555",
                "  tail -f app.log | zmtp " + name + to + " -b tcp://:5555");
    }

    @Override
    void check() {
        super.check();
        if ((group != null) != (type == ZMTPSocketType.RADIO)) {
            throw new CliException(
                    ExitCode.USAGE, "--group: " + group + " (expected: a group for radio, none otherwise)");
        }
    }

    @Override
    void run(ZMTPSocket socket) throws Exception {
        InputOptions.Source source = input.source(console, print.format(), count);
        if (type == ZMTPSocketType.PUB || type == ZMTPSocketType.RADIO) {
            SocketOptions.awaitPeers(socket, peers, limit(), "no " + peers + " subscribers");
        }
        input.forEach(source, count, next -> socket.send(Frames.message(addressed(next))));
    }

    private List<byte[]> addressed(List<byte[]> frames) {
        if (group == null) {
            return frames;
        }
        List<byte[]> all = new ArrayList<>(frames.size() + 1);
        all.add(group.getBytes(StandardCharsets.UTF_8));
        all.addAll(frames);
        return all;
    }
}
