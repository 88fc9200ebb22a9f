package dev.zmtp.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a capture's file has, read by the pcapng specification. It knows nothing of the code that writes it. */
public final class CapturedFile {

    /** A packet. Its payload is what follows 40 bytes of headers; {@code length} counts what was not captured, too. */
    public record Packet(
            int at,
            boolean in,
            int flags,
            String payload,
            int length,
            long sequence,
            @Nullable String comment) {}

    /** Names of the interfaces with their descriptions. */
    public final List<String> interfaces = new ArrayList<>();

    public final List<Packet> packets = new ArrayList<>();

    /** Packets that the statistics count as dropped, of each interface. */
    public final List<Long> dropped = new ArrayList<>();

    private CapturedFile() {}

    public static CapturedFile read(Path file) throws IOException {
        CapturedFile read = new CapturedFile();
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        while (in.remaining() >= 12) {
            int type = in.getInt();
            int length = in.getInt();
            if (length % 4 != 0 || length - 8 > in.remaining()) {
                throw new IOException("block length: " + length);
            }
            ByteBuffer body = in.slice(in.position(), length - 12).order(ByteOrder.LITTLE_ENDIAN);
            in.position(in.position() + length - 12);
            if (in.getInt() != length) {
                throw new IOException("block length: not repeated");
            }
            read.block(type, body);
        }
        if (in.hasRemaining()) {
            throw new IOException("bytes after the last block: " + in.remaining());
        }
        return read;
    }

    private void block(int type, ByteBuffer body) {
        switch (type) {
            case 1 -> {
                body.position(8);
                interfaces.add(option(body, 2) + ": " + option(body, 3));
            }
            case 5 -> {
                body.position(12);
                dropped.add(bytes(body, 5).getLong());
            }
            case 6 -> packet(body);
            default -> {
                // the section
            }
        }
    }

    private void packet(ByteBuffer body) {
        int at = body.getInt();
        int captured = body.getInt(12);
        int length = body.getInt(16);
        ByteBuffer packet = body.slice(20, captured).order(ByteOrder.BIG_ENDIAN);
        body.position(20 + (captured + 3 & ~3));
        boolean in = bytes(body, 2).getInt() == 1;
        byte[] payload = new byte[captured - 40];
        packet.get(40, payload);
        packets.add(new Packet(
                at,
                in,
                packet.get(33),
                new String(payload, StandardCharsets.ISO_8859_1),
                length - 40,
                packet.getInt(24) & 0xffffffffL,
                option(body, 1)));
    }

    private static @Nullable String option(ByteBuffer options, int wanted) {
        ByteBuffer found = bytes(options, wanted);
        return found == null ? null : StandardCharsets.UTF_8.decode(found).toString();
    }

    private static @Nullable ByteBuffer bytes(ByteBuffer options, int wanted) {
        ByteBuffer in = options.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        while (in.remaining() >= 4) {
            int code = in.getShort();
            int length = in.getShort();
            if (code == wanted) {
                return in.slice(in.position(), length).order(ByteOrder.LITTLE_ENDIAN);
            }
            in.position(in.position() + (length + 3 & ~3));
        }
        return null;
    }

    /** The payloads of a direction, one after the other, without the greeting and the READY before the messages. */
    public String messages(boolean in) {
        return stream(in).replaceFirst("(?s)^.{64}\\x04.*?READY.*?(?=[\\x00\\x01].|$)", "");
    }

    /** The payloads of a direction, one after the other. */
    public String stream(boolean in) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        packets.stream()
                .filter(packet -> packet.in == in)
                .forEach(packet -> all.writeBytes(packet.payload.getBytes(StandardCharsets.ISO_8859_1)));
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** All comments, in order. */
    public List<String> comments() {
        return packets.stream()
                .map(Packet::comment)
                .filter(comment -> comment != null)
                .toList();
    }
}
