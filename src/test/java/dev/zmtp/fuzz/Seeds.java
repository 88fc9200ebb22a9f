package dev.zmtp.fuzz;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SmallRecording;
import dev.zmtp.testing.Vectors;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Writes the seeds that follow from a rule: the vectors of {@code wire/vectors.txt}, with settings that make sense of
 * them, and what no vector has. To be run again when the bytes of the settings change; what a fuzzer found stays.
 */
final class Seeds {

    /** A ROUTER of 3.1, which talks to all that the greetings among the vectors name. */
    private static final String ROUTER = "00 06 00 00 / 00*6 ";

    private static final String PLAIN = "00 00 ";
    private static final String ONE_READ = "00 ";
    private static final String READS_OF_1 = "01 00 ";
    private static final String READS_OF_8_KIB = "01 cf ";
    private static final String UNSTRETCHED = "00 ";
    private static final String NO_LIMITS = "00*6 ";
    private static final String NO_DECODER = "00 00 ";

    private final Path directory;

    private Seeds(Path directory) {
        this.directory = directory;
    }

    /** Writes into the directory that is the only argument. */
    public static void main(String[] args) throws IOException {
        new Seeds(Path.of(args[0])).write();
    }

    private void write() throws IOException {
        for (String name : Vectors.names()) {
            vector(name, Vectors.text(name));
        }
        commands();
        greetings();
        traffic();
        writing();
        secured();
        sockets();
        recordings();
        webSockets();
    }

    private void vector(String name, String bytes) throws IOException {
        String[] words = name.split(" ", -1);
        if (name.contains("greeting") || words[0].equals("3.x") || words[0].equals("signature")) {
            seed("GreetingFuzz", name, ROUTER + PLAIN + ONE_READ + UNSTRETCHED + bytes);
            seed("ChunkingFuzz", name, chunking(6, READS_OF_1, false, 0) + bytes);
        } else if (words[0].equals("READY") || words[0].equals("ERROR")) {
            ZMTPSocketType peer = words[0].equals("READY") ? ZMTPSocketType.valueOf(words[1]) : ZMTPSocketType.PAIR;
            String ours = choice(TrafficFuzz.peerOf(peer), ZMTPSocketType.values());
            seed(
                    "NullHandshakeFuzz",
                    name,
                    "00 00 " + ours + " 00 00 / 00*6 " + PLAIN + ONE_READ + UNSTRETCHED + bytes);
            body("CommandFuzz", name, bytes, 2, "");
            if (words[0].equals("READY")) {
                body("MetadataFuzz", name, bytes, 8, "00");
            }
        } else if (words[0].equals("1.0")) {
            seed("OldTrafficFuzz", name, traffic("05", bytes));
            seed("MessageFuzz", name, "00 00 " + bytes);
        } else {
            String type = bytes.contains("4a 4f 49") || bytes.contains("4c 45 41")
                    ? "0d"
                    : isSubscription(name) ? "01" : "05";
            String version = words[0].equals("2.0") ? "02 " : words[0].equals("3.0") ? "01 " : "00 ";
            seed("TrafficFuzz", name, version + traffic(type, bytes));
            seed("ChunkingFuzz", name, chunking(Integer.parseInt(type, 16), READS_OF_1, true, 3) + bytes);
            if (Hex.bytes(bytes)[0] >= 4) {
                body("CommandFuzz", name, bytes, Hex.bytes(bytes)[0] == 4 ? 2 : 9, "");
            } else {
                seed("MessageFuzz", name, "03 00 " + bytes);
            }
        }
    }

    /** The byte that chooses {@code value}. */
    private static <T> String choice(T value, T[] values) {
        return "%02x".formatted(Arrays.asList(values).indexOf(value));
    }

    private static boolean isSubscription(String name) {
        String small = name.toLowerCase(Locale.ROOT);
        return small.contains("subscribe") || small.contains("cancel");
    }

    private static String traffic(String type, String bytes) {
        return type + " " + NO_LIMITS + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + bytes;
    }

    private static String chunking(int type, String reads, boolean greeted, int version) {
        String settings = "00 %02x 00 00 / 00*6 / 00 00 ".formatted(type);
        return settings + "02 00 00 " + reads + (greeted ? "00 " : "01 ") + "%02x 00 ".formatted(version);
    }

    private void commands() throws IOException {
        seed("CommandFuzz", "a body without a name", "");
        seed("CommandFuzz", "an empty name", "00 61");
        seed("CommandFuzz", "a name that is longer than its body", "05 50 49 4e 47");
        seed("CommandFuzz", "an unknown name", "03 41 42 43 61");
        seed("CommandFuzz", "a PING without a TTL", "04 50 49 4e 47 00");
        seed("CommandFuzz", "a PING with too long a context", "04 50 49 4e 47 00 00 61*17");
        seed("CommandFuzz", "an ERROR that is longer than its reason", "05 45 52 52 4f 52 01 61 62");
        seed("MetadataFuzz", "a second identity", "00 08 \"Identity\" 00*3 01 61 / 08 \"IDENTITY\" 00*3 01 62");
        seed("MetadataFuzz", "a value that is longer than the rest", "00 01 61 00*3 02 62");
        seed("MetadataFuzz", "a name that is longer than the rest", "00 05 61");
        seed("MetadataFuzz", "one property too many", "01 01 61 00*4 / 01 62 00*4");
        seed("MessageFuzz", "a message and a half", "03 01 00 01 61 / 01 01 62 / 00 02 63");
        seed("MessageFuzz", "a length of 2 to the 63", "03 00 02 80 00*7");
    }

    private void greetings() throws IOException {
        String http = "47 45 54 20 2f 20 48 54 54 50 2f 31 2e 31 0d 0a 0d 0a";
        seed("GreetingFuzz", "an HTTP request", ROUTER + PLAIN + ONE_READ + UNSTRETCHED + http);
        String all = ScriptedPeer.GREETING + ScriptedPeer.ready("DEALER") + "00 01 61 / 01 00 / 00 01 62";
        seed("GreetingFuzz", "a whole conversation, byte by byte", ROUTER + PLAIN + READS_OF_1 + UNSTRETCHED + all);
        seed("GreetingFuzz", "closed at the first message, later", ROUTER + "10 01 " + ONE_READ + UNSTRETCHED + all);
        seed("GreetingFuzz", "a read within a read", ROUTER + "00 04 " + "01 50 " + UNSTRETCHED + all + " 00 01 63");
        seed("GreetingFuzz", "removed at the first message", ROUTER + "02 02 " + ONE_READ + UNSTRETCHED + all);
        String old = "03 06 00 00 / 00*6 ";
        seed(
                "GreetingFuzz",
                "a 1.0 codec and a 1.0 peer",
                old + PLAIN + ONE_READ + UNSTRETCHED + "03 00 6d 65 / 02 00 61");
        String identity = ScriptedPeer.ready("DEALER", "Identity", "me", "X-a", "b", "X-a", "c");
        String router = "00 00 06 00 00 / 00*5 ";
        seed("NullHandshakeFuzz", "properties of our own", router + "00 " + PLAIN + ONE_READ + UNSTRETCHED + identity);
        seed("NullHandshakeFuzz", "one property too many", router + "02 " + PLAIN + ONE_READ + UNSTRETCHED + identity);
        seed(
                "NullHandshakeFuzz",
                "a message and PINGs behind READY",
                router + "00 " + PLAIN + READS_OF_1 + UNSTRETCHED + ScriptedPeer.ready("REQ")
                        + "00 01 61 / 04 07 04 50 49 4e 47 00 00");
    }

    private void traffic() throws IOException {
        String longGroup = "06 00*6 01 05 04 4a 4f 49 4e 67*256";
        seed(
                "TrafficFuzz",
                "a group of 256 bytes",
                "00 0d " + NO_LIMITS + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + longGroup);
        String ping = "04 0a 04 50 49 4e 47 00 00 4c 4f 4c ";
        String dealer = "00 05 " + NO_LIMITS;
        seed(
                "TrafficFuzz",
                "a body of 64 KiB in reads of 8",
                dealer + NO_DECODER + PLAIN + READS_OF_8_KIB + "a2 " + "02 00 00 00 00 00 01 00 00");
        seed(
                "TrafficFuzz",
                "a body of 64 KiB in roomy reads of 1",
                dealer + NO_DECODER + "04 00 " + READS_OF_1 + "a2 " + "02 00 00 00 00 00 01 00 00");
        seed(
                "TrafficFuzz",
                "a body that is announced and does not come",
                dealer + NO_DECODER + PLAIN + READS_OF_1 + UNSTRETCHED + "02 00 00 00 00 3f ff ff ff 61 62");
        seed(
                "TrafficFuzz",
                "a length of 2 to the 63",
                dealer + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + "02 80 00*7");
        seed(
                "TrafficFuzz",
                "PINGs and a peer that reads nothing",
                dealer + NO_DECODER + "08 00 " + READS_OF_1 + UNSTRETCHED + ping.repeat(12));
        seed(
                "TrafficFuzz",
                "kept messages of large frames",
                dealer + NO_DECODER + "03 00 " + ONE_READ + UNSTRETCHED
                        + "03 00*6 04 01 61*1025 / 01 01 62 / 02 00*6 08 00 63*2048 / 00 01 64");
        seed(
                "TrafficFuzz",
                "more frames than a message keeps",
                dealer + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + "01 01 61 ".repeat(9)
                        + "00 01 62 / 01 00 00 00");
        String small = "00 01 61 / 00 01 62 / ".repeat(12);
        seed(
                "TrafficFuzz",
                "kept frames of small messages",
                dealer + NO_DECODER + "02 00 " + ONE_READ + UNSTRETCHED + small);
        StringBuilder distinct = new StringBuilder("00 fa ");
        for (int i = 0; i < 250; i++) {
            distinct.append("%02x ".formatted(i));
        }
        String slicing = "01 " + choice(Parts.Manner.SLICE, Parts.Manner.values()) + " ";
        seed(
                "TrafficFuzz",
                "a decoder that retains what is unread",
                dealer + slicing + PLAIN + "01 63 " + UNSTRETCHED + distinct);
        for (Parts.Manner manner : Parts.Manner.values()) {
            seed(
                    "TrafficFuzz",
                    "a decoder takes " + manner,
                    dealer + "01 " + choice(manner, Parts.Manner.values()) + " " + PLAIN + "01 02 " + UNSTRETCHED
                            + "01 05 61 62 63 64 65 / 01 00 / 00 07 61 62 63 64 65 66 67");
        }
        seed(
                "TrafficFuzz",
                "a frame over its limit",
                "00 05 / 02 00 00 00 00 00 " + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED
                        + "00 05 61 62 63 64 65 / 00 06");
        seed(
                "TrafficFuzz",
                "a message over its limit",
                "00 05 / 00 03 00 00 00 00 " + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + "01 20 61*32 / 00 05");
        seed(
                "TrafficFuzz",
                "frames over their limit",
                "00 05 / 00 00 02 00 00 00 " + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED
                        + "01 00 / 00 00 / 01 00 / 01 00 / 00 00");
        seed(
                "TrafficFuzz",
                "a command over its limit",
                "00 05 / 00 00 00 03 00 00 " + NO_DECODER + PLAIN + ONE_READ + UNSTRETCHED + ping + "04 0d");
        seed(
                "TrafficFuzz",
                "removed between two messages",
                dealer + NO_DECODER + "00 02 " + READS_OF_1 + UNSTRETCHED + "00 01 61 / 00 01 62");
        seed(
                "TrafficFuzz",
                "a handler that throws",
                dealer + NO_DECODER + "00 03 " + ONE_READ + UNSTRETCHED + "00 01 61 / 00 01 62");
        seed(
                "ChunkingFuzz",
                "a body of 40 KiB",
                chunking(5, READS_OF_8_KIB, true, 2).replaceFirst("00 $", "96 ")
                        + "00 01 61 / 02 00 00 00 00 00 00 a0 00");
        seed(
                "ChunkingFuzz",
                "PINGs between frames",
                chunking(5, "02 02 04 ", true, 3) + "01 01 61 " + ping + "01 00 " + ping + "00 01 62");
        seed(
                "ChunkingFuzz",
                "1.0 frames of each form",
                chunking(5, READS_OF_1, true, 0) + "02 01 61 / ff 00*7 02 01 62 / 01 00 / ff 00*7 ff 00 63*254");
        for (String length : new String[] {"80 00*7", "ff*8", "00*8", "7f ff*7"}) {
            String bytes = traffic("05", "ff " + length + " 00");
            seed("OldTrafficFuzz", "a length of " + length.replace("*", " times "), bytes);
        }
        seed(
                "OldTrafficFuzz",
                "a body of 64 KiB",
                "05 " + NO_LIMITS + NO_DECODER + PLAIN + READS_OF_8_KIB + "a2 " + "ff 00 00 00 00 00 01 00 01 00");
    }

    private void writing() throws IOException {
        String messages =
                "06 00 00 03 / 00 / 06 01 09 07 08 09 / 01 / 06 00 00 0e / 06 00 00 13 / 04 00 00 02 / 03 00 / "
                        + "06 00 00 05 / 03 01 / 03 02 / 06 00 00 02 / ";
        String all = messages + "01 / " + messages;
        String controls = "02 00 00 / 01 / 02 03 01";
        for (int version = 0; version < 4; version++) {
            seed(
                    "WritingFuzz",
                    "messages in version " + version,
                    link(version, "00", "00 00 00", "00", "00", "00") + all);
            String user = "01 01 00 0" + version;
            seed(
                    "WritingFuzz",
                    "an encoder and a decoder in version " + version,
                    link(version, "00", user, "00", "00", "") + all);
        }
        seed("WritingFuzz", "sealed messages", link(3, "00", "00 00 01", "00", "00", "00") + all);
        seed("WritingFuzz", "sealed messages of an encoder", link(2, "00", "01 01 01", "00", "00", "00") + all);
        seed("WritingFuzz", "subscriptions in 3.1", link(3, "02", "00 00 00", "00", "00", "00") + controls);
        seed("WritingFuzz", "subscriptions in 1.0", link(0, "02", "00 00 00", "00", "00", "00") + controls);
        seed("WritingFuzz", "memberships", link(3, "03", "00 00 00", "00", "00", "00") + controls);
        seed(
                "WritingFuzz",
                "a transport that fails in the handshake",
                link(3, "00", "00 00 00", "02", "00", "00") + all);
        seed("WritingFuzz", "a transport that fails in traffic", link(3, "00", "00 00 00", "06", "00", "00") + all);
        seed("WritingFuzz", "a write within a write", link(3, "00", "00 00 00", "00", "05", "00") + all);
        seed(
                "WritingFuzz",
                "writes of listeners",
                link(3, "00", "00 00 00", "00", "00", "00") + "01 / " + messages.replace("06", "05"));
    }

    /**
     * The settings of a connection: its version, its type, encoder, decoder and cipher, and the writes that fail or
     * call.
     */
    private static String link(
            int version, String type, String user, String failing, String callingBack, String manner) {
        return "00 %02x %s %s %s 00 00 %s %s 00 ".formatted(version, type, user, manner, failing, callingBack);
    }

    private void recordings() throws IOException {
        byte[] file = SmallRecording.bytes();
        String hex = ByteBufUtil.hexDump(file);
        List<Integer> blocks = SmallRecording.blocks(file);
        int message = 2 * blocks.get(10);
        int end = 2 * blocks.get(11);
        seed("RecordingFuzz", "a subscription and a message", "00" + hex);
        seed("RecordingFuzz", "a subscription and a message, byte by byte", "01" + hex);
        seed("RecordingFuzz", "a file that is cut within a message", "02" + hex.substring(0, end - 24));
        seed("RecordingFuzz", "a message that is missing", "00" + hex.substring(0, message) + hex.substring(end));
        String frame = hex.substring(message, end).replace("0101610001620", "0201610001620");
        seed("RecordingFuzz", "a frame that is longer than the file", "00" + hex.substring(0, message) + frame);
    }

    private void webSockets() throws IOException {
        String ofServer = "00 00 " + READS_OF_1;
        String bareServer = "00 02 " + READS_OF_1;
        String ofClient = "01 00 " + READS_OF_1;
        String ready =
                "82 9a 37 fa 21 3d 35 ff 73 78 76 be 78 36 64 95 42 56 52 8e 0c 69 4e 8a 44 3d 37 fa 22 6e 62 b8";
        seed("ZwsFuzz", "READY and a message to a client", ofServer + "82 06 00 68 65 6c 6c 6f");
        seed("ZwsFuzz", "READY and a message to a server", ofClient + ready + "82 86 37 fa 21 3d 37 92 44 51 5b 95");
        seed("ZwsFuzz", "a fragmented message", "01 02 00 02 83 37 fa 21 3d 37 92 44 80 83 37 fa 21 3d 5b 96 4e");
        seed(
                "ZwsFuzz",
                "messages and fragments after the handshake of a client",
                "02 00 " + READS_OF_1 + "82 02 01 61 82 02 00 62 02 02 00 61 80 01 62 82 07 02 04 50 49 4e 47 00 00");
        seed(
                "ZwsFuzz",
                "fragments that are too long after the handshake of a server",
                "03 00 " + READS_OF_1 + "02 83 37 fa 21 3d 37 92 44 80 fe 27 10 37 fa 21 3d 5b 96 4e");
        seed("ZwsFuzz", "two messages to a bare client", bareServer + "82 01 00 82 05 01 61 62 63 64 82 02 00 78");
        seed("ZwsFuzz", "PING, PONG and close", bareServer + "89 01 61 8a 00 88 02 03 e8 82 01 00");
        seed("ZwsFuzz", "a frame that is announced and too long", bareServer + "82 7f 00 00 00 00 04 00 00 00 00");
    }

    private void sockets() throws IOException {
        String routers = "06 00 00 / 06 01 00 / ";
        String ask = "00 02 / 00 02 / 02 02 / ";
        seed("RequestFuzz", "answers of two ROUTERs", routers + ask + "08 00 00 / 08 01 00 / 08 00 01 / 08 00 00");
        seed("RequestFuzz", "another peer answers", routers + ask + "0a 00 00 01 05 / 0a 01 00 00 05");
        seed("RequestFuzz", "a request without an envelope", routers + "02 02 / 0a 00 00 00 00 / 0a 00 00 00 03");
        seed("RequestFuzz", "an answer that comes too late", "06 00 00 / 00 00 / 0d 01 / 08 00 00");
        seed("RequestFuzz", "a peer that leaves before it answers", "06 00 00 / 00 02 / 02 02 / 06 00 / 06 00 00");
        seed("RequestFuzz", "requests before there is a peer", ask + "06 02 00 / 08 02 00 / 08 02 01");
        seed(
                "RequestFuzz",
                "a REQ and a REP in turn",
                "06 00 01 / 0b 00 / 03 / 04 / 0c 00 / 03 / 03 / 04 / 04 / 0b 00 / 0b 00 / 0c 00 / 0c 00");
        seed("RequestFuzz", "a receive that is cancelled", "06 00 00 / 03 / 04 / 05 00 / 04 / 08 00 00");
        seed("RequestFuzz", "more requests than may be", "02 02 / ".repeat(8) + "05 01 00 / 02 02");
        String pubs = "00 00 05 00 / 00 01 05 01 / 00 00 06 / 01 00 06 / ";
        seed(
                "SubscribingFuzz",
                "each handle counts",
                pubs + "00 00 00 01 / 00 00 00 01 / 00 00 03 01 00 / 00 00 03 01 00");
        seed("SubscribingFuzz", "a handle is closed twice", pubs + "00 00 00 01 / 00 00 03 01 00 / 00 00 03 00");
        seed("SubscribingFuzz", "a publisher comes later", "00 00 00 02 / 01 00 00 01 / 00 00 06 / 00 00 05 00");
        seed("SubscribingFuzz", "a subscriber leaves", pubs + "00 00 00 01 / 01 00 00 01 / 00 00 06 00 / 00 00 06 01");
        seed("SubscribingFuzz", "a message for one of them", pubs + "00 00 00 02 / 01 00 00 03 / 00 00 07 02 01");
        seed(
                "SubscribingFuzz",
                "a publisher comes back",
                pubs + "01 00 00 00 / 00 00 05 / 00 00 05 00 / 00 00 07 00 00");
    }

    private void secured() throws IOException {
        String manner = ROUTER + PLAIN + ONE_READ + UNSTRETCHED;
        String hello = "04 13 05 \"HELLO\" 05 \"admin\" 06 \"secret\" ";
        String dealer = "0b \"Socket-Type\" 00 00 00 06 \"DEALER\" ";
        String initiate = "04 1f 08 \"INITIATE\" " + dealer;
        String error = " 03 \"400\" ";
        seed("PlainFuzz", "a client that knows the password", "00 " + manner + hello + initiate + "00 01 61");
        seed("PlainFuzz", "a client that does not", "00 " + manner + "04 0b 05 \"HELLO\" 01 61 02 62 62");
        seed("PlainFuzz", "a client that does not wait", "00 " + manner + initiate + hello);
        seed("PlainFuzz", "a password that is longer than the rest", "00 " + manner + "04 09 05 \"HELLO\" 01 61 02");
        seed(
                "PlainFuzz",
                "a server that accepts",
                "01 " + manner + "04 08 07 \"WELCOME\" / 04 1c 05 \"READY\" " + dealer + "00 01 61");
        seed("PlainFuzz", "a server that refuses", "01 " + manner + "04 0a 05 \"ERROR\"" + error);
        seed("PlainFuzz", "a server that refuses and misspells it", "01 " + manner + "04 09 5e \"RROR\"" + error);

        seed("CurveFuzz", "nothing is changed", "00");
        String untouched = "00 00 00 ";
        for (int command = 0; command < 12; command++) {
            String before = untouched.repeat(command);
            seed("CurveFuzz", "a byte of piece " + command + " is changed", before + "01 00 20 01");
            seed("CurveFuzz", "piece " + command + " is cut", before + "02 00 20");
            seed("CurveFuzz", "piece " + command + " comes twice", before + "03 00 00");
        }

        String forge = ROUTER + NO_LIMITS + PLAIN;
        seed(
                "CurveBoxFuzz",
                "messages and a command",
                forge + "04 01 05 / 01 01 61 / 00 01 62 / 02 07 04 \"PING\" 00 00 / 00 00");
        seed("CurveBoxFuzz", "flags that are none", forge + "02 01 05 / 00 01 61 / 04 01 62");
        seed("CurveBoxFuzz", "metadata that is none", forge + "00 00 04 05 61 61 61");
        seed("CurveBoxFuzz", "clear text behind boxes", forge + "01 01 05 / 00 01 61 / 00 01 61");
    }

    /** Seeds with the body of the frame that {@code bytes} spell, without the first {@code header} bytes. */
    private void body(String target, String name, String bytes, int header, String before) throws IOException {
        byte[] frame = Hex.bytes(bytes);
        StringBuilder body = new StringBuilder(before);
        for (int i = header; i < frame.length; i++) {
            body.append(" %02x".formatted(frame[i]));
        }
        seed(target, name, body.toString());
    }

    private void seed(String target, String name, String bytes) throws IOException {
        String file = name.replaceAll("[^A-Za-z0-9.]+", "-") + ".bin";
        Path folder = Files.createDirectories(directory.resolve(target));
        Files.write(folder.resolve(file), Hex.bytes(bytes));
    }
}
