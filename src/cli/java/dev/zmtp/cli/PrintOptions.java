package dev.zmtp.cli;

import dev.zmtp.socket.ZMTPPeer;
import io.netty.buffer.ByteBufUtil;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How messages are printed and read. */
final class PrintOptions {

    static final class FormatConverter implements ITypeConverter<MessageFormat> {
        @Override
        public MessageFormat convert(String text) {
            try {
                return MessageFormat.valueOf(text.toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' (expected: text, quoted, hex, json, raw or none)");
            }
        }
    }

    @Option(
            names = {"-f", "--format"},
            paramLabel = "FORMAT",
            converter = FormatConverter.class,
            defaultValue = "text",
            description = "Format of messages, read and printed: text, quoted, hex, json, raw or none. Default: text.")
    private MessageFormat format = MessageFormat.TEXT;

    @Option(names = "--meta", description = "Prints an object in JSON with time, peer and frames.")
    private boolean meta;

    MessageFormat format() {
        return format;
    }

    void print(Console console, @Nullable ZMTPPeer from, List<byte[]> frames) {
        console.print(
                meta
                        ? MessageFormat.withMeta(Instant.now().toString(), from == null ? null : name(from), frames)
                        : format.bytes(frames));
        console.flush();
    }

    private static String name(ZMTPPeer peer) {
        byte[] bytes = Frames.bytes(peer.routingId());
        String text = MessageFormat.utf8(bytes);
        return text == null ? "0x" + ByteBufUtil.hexDump(bytes) : text;
    }
}
