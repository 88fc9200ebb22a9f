package dev.zmtp.cli;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes as text, or in hexadecimal after {@code 0x}. */
final class RoutingId {

    private final byte[] bytes;

    RoutingId(byte[] bytes) {
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes.clone();
    }

    static final class Converter implements ITypeConverter<RoutingId> {
        @Override
        public RoutingId convert(String text) {
            if (!text.toLowerCase(Locale.ROOT).startsWith("0x")) {
                return new RoutingId(text.getBytes(StandardCharsets.UTF_8));
            }
            try {
                return new RoutingId(HexFormat.of().parseHex(text.substring(2)));
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' (expected: text, or 0x and pairs of digits)");
            }
        }
    }
}
