package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Prints what comes: {@code sub}, {@code pull}, {@code dish} and {@code gather}. */
final class ReceiveCommand extends SocketCommand {

    @Option(
            names = {"-t", "--topic"},
            paramLabel = "TOPIC",
            description = "sub: subscribes to messages that begin with TOPIC. Without it, all messages come.")
    private List<String> topics = new ArrayList<>();

    @Option(
            names = {"-g", "--group"},
            paramLabel = "GROUP",
            description = "dish: joins the group.")
    private List<String> groups = new ArrayList<>();

    ReceiveCommand(Console console, ZMTPSocketType type) {
        super(console, type);
    }

    @Override
    String description() {
        return "Prints the messages that a " + type + " receives.";
    }

    @Override
    List<String> examples(String name) {
        String filter = switch (type) {
            case SUB -> " -t weather";
            case DISH -> " -g room";
            default -> "";
        };
        return List.of(
                "  zmtp " + name + filter + " tcp://10.0.0.7:5556",
                "  zmtp " + name + filter + " -b tcp://:5556 -n 10 -w 5s",
                "  zmtp " + name + filter + " -f json --meta tcp://10.0.0.7:5556 | jq .");
    }

    @Override
    void check() {
        super.check();
        if (!topics.isEmpty() && type != ZMTPSocketType.SUB) {
            throw new CliException(ExitCode.USAGE, "--topic: " + type + " (expected: sub)");
        }
        if (groups.isEmpty() == (type == ZMTPSocketType.DISH)) {
            throw new CliException(
                    ExitCode.USAGE, "--group: " + groups.size() + " (expected: at least 1 for dish, 0 otherwise)");
        }
    }

    @Override
    void run(ZMTPSocket socket) throws InterruptedException {
        if (type == ZMTPSocketType.SUB) {
            (topics.isEmpty() ? List.of("") : topics).forEach(socket::subscribe);
        }
        groups.forEach(socket::subscribe);
        for (long i = 0; i < count; i++) {
            Received next = receive(socket);
            print.print(console, next.peer(), next.frames());
        }
    }
}
