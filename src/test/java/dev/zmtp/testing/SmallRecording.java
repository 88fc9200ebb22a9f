package dev.zmtp.testing;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The bytes of a recording of a PUB with a subscriber, whose times are the same whenever it is made. */
public final class SmallRecording {

    private static final long BEGUN = 1_764_190_000_000_000_000L;
    private static final int PACKET = 6;
    private static final int STATISTICS = 5;
    private static final int TIME = 12;
    private static final int BEGINNING = 24;

    private SmallRecording() {}

    /** Returns a recording of a subscription, a message of two frames, and the end of the connection. */
    public static byte[] bytes() throws IOException {
        Path folder = Files.createTempDirectory("recording");
        Path file = folder.resolve("small.pcapng");
        try {
            try (ZMTPCapture capture = ZMTPCapture.record(file)) {
                EmbeddedChannel channel = new EmbeddedChannel();
                channel.pipeline().addLast(ZMTPCodec.of(ZMTPSocketType.PUB), capture.handler("test://news"));
                channel.writeInbound(
                        Hex.buffer(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, ZMTPSocketType.SUB)),
                        Hex.buffer("04 0a 09 \"SUBSCRIBE\""));
                channel.writeOutbound(ZMTPMessage.fromUTF8("a", "b"));
                channel.finishAndReleaseAll();
            }
            return timed(Files.readAllBytes(file));
        } finally {
            Files.delete(file);
            Files.delete(folder);
        }
    }

    private static byte[] timed(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long time = BEGUN;
        for (int start : blocks(bytes)) {
            int type = file.getInt(start);
            if (type == PACKET || type == STATISTICS) {
                time += 1_000_000;
                put(file, start + TIME, time);
            }
            if (type == STATISTICS) {
                put(file, start + BEGINNING, BEGUN);
            }
        }
        return bytes;
    }

    private static void put(ByteBuffer file, int index, long time) {
        file.putInt(index, (int) (time >>> Integer.SIZE)).putInt(index + Integer.BYTES, (int) time);
    }

    /** Returns where the blocks of a file begin. */
    public static List<Integer> blocks(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<Integer> starts = new ArrayList<>();
        for (int start = 0; start < bytes.length; start += file.getInt(start + Integer.BYTES)) {
            starts.add(start);
        }
        return starts;
    }
}
