package dev.zmtp.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The table {@code wire/vectors.txt}: bytes of real peers, by what they mean. */
public final class Vectors {

    private static final Map<String, String> TABLE = load();

    private Vectors() {}

    /** The names of all vectors, in the order of the table. */
    public static Set<String> names() {
        return TABLE.keySet();
    }

    /** The vector of this name, spelt as {@link Hex} reads it. */
    public static String text(String name) {
        String text = TABLE.get(name);
        if (text == null) {
            throw new IllegalArgumentException("vector: " + name + " (expected: one of wire/vectors.txt)");
        }
        return text;
    }

    /** The bytes of the vector of this name. */
    public static byte[] bytes(String name) {
        return Hex.bytes(text(name));
    }

    /** The hex dump of the vector of this name. */
    public static String hex(String name) {
        return ByteBufUtil.hexDump(bytes(name));
    }

    /** The bytes of the vector of this name, in a buffer that the leak check sees. */
    public static ByteBuf buffer(String name) {
        return Hex.buffer(text(name));
    }

    private static Map<String, String> load() {
        Map<String, String> table = new LinkedHashMap<>();
        try (InputStream in = Vectors.class.getResourceAsStream("/wire/vectors.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> {
                        int bar = line.indexOf('|');
                        if (table.put(line.substring(0, bar).trim(), line.substring(bar + 1)) != null) {
                            throw new IllegalStateException("vector: a second of " + line);
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return table;
    }
}
