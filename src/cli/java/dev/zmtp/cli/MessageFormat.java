package dev.zmtp.cli;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
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
            return Json.print(frames);
        }

        @Override
        List<byte[]> parse(byte[] line) {
            return Json.parse(line);
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

    /** Returns the message as a line, without its end. */
    abstract String line(List<byte[]> frames);

    /**
     * Returns the frames of a line, at least one.
     *
     * @throws IllegalArgumentException if the line is not in this format
     */
    abstract List<byte[]> parse(byte[] line);

    /** Returns the maximum length of a line with a single frame of at most this length. */
    int maxLineLength(int maxFrameLength) {
        int perByte = switch (this) {
            case TEXT, RAW, NONE -> 1;
            case HEX -> 2;
            case QUOTED -> 4; // a backslash, x and two digits
            case JSON -> 6; // a backslash, u and four digits
        };
        return perByte * maxFrameLength + 4; // brackets and quotes
    }

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
        return (Json.print(time, peer, frames) + '\n').getBytes(StandardCharsets.UTF_8);
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
}
