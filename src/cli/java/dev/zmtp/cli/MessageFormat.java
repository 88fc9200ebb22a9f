package dev.zmtp.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The forms in which messages are read and printed. A message is a line, except in {@code raw}. */
enum MessageFormat {
    /** Frames with a tab between them. A byte that does not print is shown as a dot. */
    TEXT {
        @Override
        String line(List<byte[]> frames) {
            return joined(frames, "\t", MessageFormat::printable);
        }

        @Override
        List<byte[]> parse(byte[] line) {
            List<byte[]> frames = new ArrayList<>();
            int begin = 0;
            for (int i = 0; i <= line.length; i++) {
                if (i == line.length || line[i] == '\t') {
                    frames.add(Arrays.copyOfRange(line, begin, i));
                    begin = i + 1;
                }
            }
            return frames;
        }
    },
    /** Frames in double quotes with a space between them. Other bytes than printable ASCII are escaped. */
    QUOTED {
        @Override
        String line(List<byte[]> frames) {
            return joined(frames, " ", Quoted::print);
        }

        @Override
        List<byte[]> parse(byte[] line) {
            return Quoted.parse(line);
        }
    },
    /** Frames in hexadecimal with a space between them; an empty frame is {@code -}. */
    HEX {
        @Override
        String line(List<byte[]> frames) {
            return joined(frames, " ", frame -> frame.length == 0 ? "-" : ByteBufUtil.hexDump(frame));
        }

        @Override
        List<byte[]> parse(byte[] line) {
            List<byte[]> frames = new ArrayList<>();
            for (String frame : new String(line, StandardCharsets.ISO_8859_1).split(" ", -1)) {
                frames.add(frame.equals("-") ? new byte[0] : HexFormat.of().parseHex(frame));
            }
            return frames;
        }
    },
    /** An array of strings. A frame that is not UTF-8 is {@code {"base64": "..."}}. */
    JSON {
        @Override
        String line(List<byte[]> frames) {
            return GSON.toJson(array(frames));
        }

        @Override
        List<byte[]> parse(byte[] line) {
            JsonElement parsed;
            try {
                String text = utf8(line);
                if (text == null) {
                    throw new IllegalArgumentException("not UTF-8");
                }
                parsed = JsonParser.parseString(text);
            } catch (JsonParseException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
            if (!parsed.isJsonArray()) {
                throw new IllegalArgumentException("not an array");
            }
            List<byte[]> frames = new ArrayList<>();
            parsed.getAsJsonArray().forEach(frame -> frames.add(frame(frame)));
            return frames;
        }
    },
    /** The bytes of all frames, without anything between or after them. A line is read as one frame. */
    RAW {
        @Override
        String line(List<byte[]> frames) {
            throw new IllegalStateException("raw messages are not lines");
        }

        @Override
        List<byte[]> parse(byte[] line) {
            return List.of(line);
        }
    },
    /** Nothing is printed. A line is read as one frame. */
    NONE {
        @Override
        String line(List<byte[]> frames) {
            return "";
        }

        @Override
        List<byte[]> parse(byte[] line) {
            return List.of(line);
        }
    };

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();
    private static final String BASE64 = "base64";

    /** Returns the message as a line, without its end. */
    abstract String line(List<byte[]> frames);

    /**
     * Returns the frames of a line, at least one.
     *
     * @throws IllegalArgumentException if the line is not in this format
     */
    abstract List<byte[]> parse(byte[] line);

    /** Returns what is printed for a message. */
    byte[] bytes(List<byte[]> frames) {
        return switch (this) {
            case NONE -> new byte[0];
            case RAW -> concatenated(frames);
            default -> (line(frames) + '\n').getBytes(StandardCharsets.UTF_8);
        };
    }

    /** Returns the line of a message with its time and peer, which are printed in JSON whatever the format is. */
    static byte[] withMeta(String time, @Nullable String peer, List<byte[]> frames) {
        JsonObject all = new JsonObject();
        all.addProperty("time", time);
        if (peer != null) {
            all.addProperty("peer", peer);
        }
        all.add("frames", array(frames));
        return (GSON.toJson(all) + '\n').getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] concatenated(List<byte[]> frames) {
        ByteBuffer all = ByteBuffer.allocate(
                frames.stream().mapToInt(frame -> frame.length).sum());
        frames.forEach(all::put);
        return all.array();
    }

    private static String joined(List<byte[]> frames, String between, Function<byte[], String> text) {
        return String.join(between, frames.stream().map(text).toList());
    }

    static @Nullable String utf8(byte[] frame) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(frame))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static String printable(byte[] frame) {
        String text = utf8(frame);
        StringBuilder printed = new StringBuilder();
        if (text == null) {
            for (byte b : frame) {
                printed.append(b >= ' ' && b < 127 ? (char) b : '.');
            }
        } else {
            text.codePoints().forEach(c -> printed.appendCodePoint(Character.isISOControl(c) ? '.' : c));
        }
        return printed.toString();
    }

    private static JsonArray array(List<byte[]> frames) {
        JsonArray array = new JsonArray();
        for (byte[] frame : frames) {
            String text = utf8(frame);
            if (text == null) {
                JsonObject bytes = new JsonObject();
                bytes.addProperty(BASE64, Base64.getEncoder().encodeToString(frame));
                array.add(bytes);
            } else {
                array.add(text);
            }
        }
        return array;
    }

    private static byte[] frame(JsonElement element) {
        if (element instanceof JsonPrimitive text && text.isString()) {
            return text.getAsString().getBytes(StandardCharsets.UTF_8);
        }
        if (element instanceof JsonObject bytes
                && bytes.size() == 1
                && bytes.get(BASE64) instanceof JsonPrimitive text
                && text.isString()) {
            return Base64.getDecoder().decode(text.getAsString());
        }
        throw new IllegalArgumentException("frame " + element + " (expected: a string, or {\"base64\": \"...\"})");
    }
}
