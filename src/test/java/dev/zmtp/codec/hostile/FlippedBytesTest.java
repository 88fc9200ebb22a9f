package dev.zmtp.codec.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.ScriptedPeer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A conversation with one flipped byte. Either the grammar allows it, or the connection ends with
 * one failure. Nothing that was sent before changes, and it does not matter how the bytes are split.
 */
class FlippedBytesTest {

    /** What is fired for a conversation with a flipped byte after which the peer disconnects. */
    private static List<String> outcome(byte[] bytes, int piece) {
        try (ScriptedPeer peer = Transcript.begin()) {
            for (int at = 0; at < bytes.length; at += piece) {
                peer.send(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + piece)));
            }
            peer.channel.unsafe().close(peer.channel.voidPromise());
            peer.channel.runPendingTasks();
            return Transcript.outcome(peer);
        }
    }

    private static byte[] flipped(Transcript conversation, int at, int bits) {
        byte[] bytes = conversation.bytes();
        bytes[at] ^= (byte) bits;
        return bytes;
    }

    /**
     * By offset, the outcome if all bits of that byte are flipped: the code of the failure; "same" if it is ignored;
     * "other" if the messages differ, or one waits for bytes that do not arrive.
     */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
                    ZMTP10 | 0 other, 1 MALFORMED, 2-13 other, 14-15 MALFORMED, 16-19 TOO_LARGE, 20-25 other, \
                             26-27 MALFORMED, 28-31 TOO_LARGE, 32-337 other
                    ZMTP20 | 0 MALFORMED, 1-8 same, 9 MALFORMED, 10 MECHANISM, 11 SOCKET_TYPE, 12-13 MALFORMED, \
                             14-15 MALFORMED, 16 other, 17-18 MALFORMED, 19 other, 20-23 MALFORMED, 24-25 other, \
                             26-27 MALFORMED, 28-31 TOO_LARGE, 32-33 other, 34 MALFORMED, 35-36 other, \
                             37-38 MALFORMED, 39-42 TOO_LARGE, 43-347 other
                    ZMTP30 | 0 MALFORMED, 1-8 same, 9 MALFORMED, 10-11 other, 12-31 MECHANISM, 32-63 same, \
                             64-66 MALFORMED, 67-71 UNEXPECTED, 72 MALFORMED, 73-83 same, 84-87 MALFORMED, \
                             88-93 SOCKET_TYPE, 94-95 MALFORMED, 96 other, 97-98 MALFORMED, 99 other, \
                             100-102 MALFORMED, 103-111 same, 112-115 MALFORMED, 116-117 other, 118-119 MALFORMED, \
                             120-125 TOO_LARGE, 126-127 MALFORMED, 128-130 same, 131-132 MALFORMED, \
                             133-136 TOO_LARGE, 137-138 other, 139 MALFORMED, 140-141 other, 142-143 MALFORMED, \
                             144-147 TOO_LARGE, 148-452 other
                    ZMTP31 | 0 MALFORMED, 1-8 same, 9 MALFORMED, 10-11 same, 12-31 MECHANISM, 32-63 same, \
                             64-66 MALFORMED, 67-71 UNEXPECTED, 72 MALFORMED, 73-83 same, 84-87 MALFORMED, \
                             88-93 SOCKET_TYPE, 94-95 MALFORMED, 96 other, 97-98 MALFORMED, 99 other, \
                             100-102 MALFORMED, 103-111 same, 112-115 MALFORMED, 116-117 other, 118-119 MALFORMED, \
                             120-125 TOO_LARGE, 126-127 MALFORMED, 128-130 same, 131-132 MALFORMED, \
                             133-136 TOO_LARGE, 137-138 other, 139 MALFORMED, 140-141 other, 142-143 MALFORMED, \
                             144-147 TOO_LARGE, 148-452 other
                    """)
    void theOutcomeIsReportedOnce(ZMTPVersion version, String table) {
        Transcript conversation = Transcript.of(version);
        List<String> expected = expand(table);
        List<String> unflipped = outcome(conversation.bytes(), Integer.MAX_VALUE / 2);
        List<String> actual = new ArrayList<>();
        for (int at = 0; at < conversation.bytes().length; at++) {
            List<String> outcome = outcome(flipped(conversation, at, 0xff), Integer.MAX_VALUE / 2);
            List<String> before = conversation.fired(at);
            assertThat(outcome.subList(0, before.size())).as("%d flipped", at).isEqualTo(before);
            actual.add(at + " " + kind(outcome, unflipped));
        }
        assertThat(actual).isEqualTo(expected);
    }

    private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))? (\\w+)");

    /** Ranges as single offsets, each with what is expected of it. */
    private static List<String> expand(String table) {
        List<String> all = new ArrayList<>();
        RANGE.matcher(table).results().forEach(range -> {
            int first = Integer.parseInt(range.group(1));
            int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
            for (int at = first; at <= last; at++) {
                all.add(at + " " + range.group(3));
            }
        });
        return all;
    }

    private static String kind(List<String> outcome, List<String> unflipped) {
        if (outcome.equals(unflipped)) {
            return "same";
        }
        List<String> failures = outcome.stream()
                .filter(fired -> !fired.equals("CLOSED")) // in traffic: it waited for bytes that did not arrive
                .map(fired -> fired.replace("refused: ", ""))
                .filter(fired -> fired.matches("[A-Z_]+"))
                .toList();
        return failures.isEmpty() ? "other" : String.join(" ", failures);
    }

    /** Any byte is valid there. */
    private static boolean isAmidTheLargeFrame(Transcript conversation, int at) {
        byte[] bytes = conversation.bytes();
        return bytes[at] == 'g' && bytes[at - 1] == 'g';
    }

    static List<Transcript> conversations() {
        return Transcript.ofEachVersion().toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("conversations")
    void theOutcomeDoesNotDependOnHowTheBytesAreSplit(Transcript conversation) {
        int length = conversation.bytes().length;
        for (int at = 0; at < length; at += isAmidTheLargeFrame(conversation, at) ? 20 : 1) {
            for (int bits : new int[] {0xff, 1 << (at % 8)}) {
                byte[] bytes = flipped(conversation, at, bits);
                List<String> inOneRead = outcome(bytes, length);
                assertThat(outcome(bytes, 1)).as("%d flipped by %x", at, bits).isEqualTo(inOneRead);
                assertThat(outcome(bytes, 7)).as("%d flipped by %x", at, bits).isEqualTo(inOneRead);
            }
        }
    }
}
