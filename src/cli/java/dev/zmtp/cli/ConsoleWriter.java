package dev.zmtp.cli;

import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** Writes the help to standard output. */
final class ConsoleWriter extends Writer {

    private final Console console;

    ConsoleWriter(Console console) {
        this.console = console;
    }

    @Override
    public void write(char[] characters, int offset, int length) {
        console.print(new String(characters, offset, length).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void flush() {} // a failure of the flush at the end of the program is reported in a single line

    @Override
    public void close() {}
}
