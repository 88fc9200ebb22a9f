package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands of the program. */
final class Commands {

    private Commands() {}

    /**
     * Adds the command with this name, or all commands if none has it. Creating a command takes milliseconds, which a
     * program of a shell does not have for commands that it does not run.
     */
    static void add(CommandLine program, Console console, String name) {
        Map<String, Supplier<CommandLine>> all = all(console);
        Supplier<CommandLine> wanted = all.get(name);
        if (wanted != null) {
            program.addSubcommand(name, wanted.get());
        } else {
            all.forEach((each, command) -> program.addSubcommand(each, command.get()));
        }
    }

    private static Map<String, Supplier<CommandLine>> all(Console console) {
        Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
        for (ZMTPSocketType type : ZMTPSocketType.values()) {
            String name = type.name().toLowerCase(Locale.ROOT);
            all.put(name, () -> of(console, type, name));
        }
        all.put("echo", () -> new CommandLine(new EchoCommand(console)));
        all.put("ping", () -> new CommandLine(new PingCommand(console)));
        all.put("proxy", () -> new CommandLine(new ProxyCommand(console)));
        all.put("dump", () -> new CommandLine(new DumpCommand(console)));
        all.put("replay", () -> new CommandLine(new ReplayCommand(console)));
        all.put("keygen", () -> new CommandLine(new KeygenCommand(console)));
        all.put("perf", () -> PerfCommand.line(console));
        return all;
    }

    private static CommandLine of(Console console, ZMTPSocketType type, String name) {
        SocketCommand command = switch (type) {
            case SUB, PULL, DISH, GATHER -> new ReceiveCommand(console, type);
            case PUB, PUSH, RADIO, SCATTER -> new SendCommand(console, type);
            case REQ, DEALER, CLIENT -> new RequestCommand(console, type);
            case REP, ROUTER, SERVER -> new ReplyCommand(console, type);
            case PAIR, CHANNEL, PEER, XPUB, XSUB -> new TalkCommand(console, type);
        };
        CommandLine line = new CommandLine(command);
        line.getCommandSpec()
                .name(name)
                .usageMessage()
                .description(command.description())
                .footerHeading("%nExamples:%n")
                .footer(command.examples(name).toArray(String[]::new));
        return line;
    }
}
