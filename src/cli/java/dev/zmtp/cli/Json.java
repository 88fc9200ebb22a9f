package dev.zmtp.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages as arrays of strings in JSON. A frame that is not UTF-8 is {@code {"base64": "..."}}. Only commands that read
 * or print JSON load this class, because Gson delays the start of a program by more than 100 classes.
 */
final class Json {

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();
    private static final String BASE64 = "base64";

    private Json() {}

    static String print(List<byte[]> frames) {
        return printed(array(frames));
    }

    /** Returns the text without control characters, which a terminal would obey. Gson escapes only those of ASCII. */
    private static String printed(JsonElement json) {
        StringBuilder text = new StringBuilder();
        for (char c : GSON.toJson(json).toCharArray()) {
            if (c >= '\u007f' && c < '\u00a0') {
                text.append("\\u00").append(HexFormat.of().toHexDigits((byte) c));
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }

    /** Returns an object with the time, the peer if it is known, and the frames. */
    static String print(String time, @Nullable String peer, List<byte[]> frames) {
        JsonObject all = new JsonObject();
        all.addProperty("time", time);
        if (peer != null) {
            all.addProperty("peer", peer);
        }
        all.add("frames", array(frames));
        return printed(all);
    }

    /**
     * Returns the frames of an array.
     *
     * @throws IllegalArgumentException if the line is not such an array
     */
    static List<byte[]> parse(byte[] line) {
        JsonElement parsed;
        try {
            String text = MessageFormat.utf8(line);
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
        if (parsed.getAsJsonArray().isEmpty()) {
            throw new IllegalArgumentException("no frame (expected: an array of frames)");
        }
        List<byte[]> frames = new ArrayList<>();
        parsed.getAsJsonArray().forEach(frame -> frames.add(frame(frame)));
        return frames;
    }

    private static JsonArray array(List<byte[]> frames) {
        JsonArray array = new JsonArray();
        for (byte[] frame : frames) {
            String text = MessageFormat.utf8(frame);
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

    private static byte[] utf8(String text) {
        try {
            return Frames.bytes(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a string with half of a surrogate pair (expected: Unicode)", e);
        }
    }

    private static byte[] frame(JsonElement element) {
        if (element instanceof JsonPrimitive text && text.isString()) {
            return utf8(text.getAsString());
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
