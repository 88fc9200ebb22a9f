package dev.zmtp.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** A command that has run in this process. */
record CommandRun(int code, String output, String errors) {

    static CommandRun of(String input, String... arguments) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        Console console = new Console(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                output,
                new PrintStream(errors, true, StandardCharsets.UTF_8));
        int code = Main.run(console, arguments);
        return new CommandRun(code, output.toString(StandardCharsets.UTF_8), errors.toString(StandardCharsets.UTF_8));
    }
}
