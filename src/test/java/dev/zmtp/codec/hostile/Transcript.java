package dev.zmtp.codec.hostile;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A conversation of a peer of one version with a DEALER, and what the codec fires for it, in words. */
final class Transcript {

    /** In place of what is fired: nothing is, and the frame is not the last of its message. */
    private static final String MIDDLE = "";

    private final ZMTPVersion version;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int handshake;

    /** What is fired, and how many bytes have arrived by then. */
    private final List<String> fired = new ArrayList<>();

    private final List<Integer> firedAt = new ArrayList<>();

    private Transcript(ZMTPVersion version) {
        this.version = version;
    }

    /** After how many bytes neither a frame nor a message is unfinished. */
    private final Set<Integer> between = new HashSet<>();

    /** Adds bytes of the peer, and what is fired once they have arrived, or null for nothing. */
    private void add(String hex, @Nullable String fires) {
        bytes.writeBytes(Hex.bytes(hex));
        if (!MIDDLE.equals(fires)) {
            between.add(bytes.size());
        }
        if (fires != null && !MIDDLE.equals(fires)) {
            fired.add(fires);
            firedAt.add(bytes.size());
        }
    }

    /** A conversation of each version. */
    static Stream<Transcript> ofEachVersion() {
        return Stream.of(ZMTPVersion.values()).map(Transcript::of);
    }

    /** The conversation of a peer of {@code version}. */
    static Transcript of(ZMTPVersion version) {
        Transcript all = new Transcript(version);
        all.add(ScriptedPeer.greeting(version, ZMTPSocketType.ROUTER), "success " + version);
        all.handshake = all.bytes.size();
        if (version == ZMTPVersion.ZMTP10) {
            all.add("02 00 61", "message 61");
            all.add("02 01 62", MIDDLE);
            all.add("01 01", MIDDLE);
            all.add("03 00 63 64", "message 62 - 6364");
            all.add("ff 00*7 03 01 65 66", MIDDLE);
            all.add("ff 00*6 01 2d 00 67*300", "message 6566 " + Hex.of("67*300"));
            all.add("01 00", "message -");
            return all;
        }
        all.add("00 01 61", "message 61");
        all.add("01 01 62", MIDDLE);
        if (version.hasCommands()) {
            all.add("04 0a 04 \"PING\" 00 00 \"abc\"", MIDDLE);
        }
        all.add("01 00", MIDDLE);
        all.add("00 02 63 64", "message 62 - 6364");
        if (version.hasCommands()) {
            all.add("06 00*7 04 03 \"NEW\"", null);
        }
        all.add("03 00*7 02 65 66", MIDDLE);
        all.add("02 00*6 01 2c 67*300", "message 6566 " + Hex.of("67*300"));
        all.add("00 00", "message -");
        return all;
    }

    /** All bytes of the peer. */
    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** What has been fired when this many bytes have arrived. */
    List<String> fired(int bytes) {
        int count = 0;
        while (count < fired.size() && firedAt.get(count) <= bytes) {
            count++;
        }
        return fired.subList(0, count);
    }

    /** Whether neither a frame nor a message is unfinished after this many bytes of traffic. */
    boolean isBetween(int bytes) {
        return between.contains(bytes);
    }

    /** How many bytes the handshake has. */
    int handshake() {
        return handshake;
    }

    /** A new codec and a peer that has sent nothing yet. */
    static ScriptedPeer begin() {
        return new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER));
    }

    /** All that a codec has fired, in order and in words, and at the end whether the channel is closed. */
    static List<String> outcome(ScriptedPeer peer) {
        List<String> outcome = new ArrayList<>();
        peer.all.forEach(fired -> outcome.add(Fired.describe(fired)));
        if (!peer.channel.isOpen()) {
            outcome.add("closed");
        }
        return outcome;
    }

    @Override
    public String toString() {
        return version.toString();
    }
}
