package dev.zmtp.codec;

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
 * A conversation with one octet that is not as it should be. Either the grammar allows for it, or the connection ends with
 * one failure; nothing that was said before changes, and how the octets are cut does not matter.
 */
class FlippedOctetsTest {

    /** What a conversation with a flipped octet comes to, and then the peer leaves. */
    private static List<String> outcome(byte[] octets, int piece) {
        try (ScriptedPeer peer = Transcript.begin()) {
            for (int at = 0; at < octets.length; at += piece) {
                peer.send(Arrays.copyOfRange(octets, at, Math.min(octets.length, at + piece)));
            }
            peer.channel.unsafe().close(peer.channel.voidPromise());
            peer.channel.runPendingTasks();
            return Transcript.outcome(peer);
        }
    }

    private static byte[] flipped(Transcript conversation, int at, int bits) {
        byte[] octets = conversation.octets();
        octets[at] ^= (byte) bits;
        return octets;
    }

    /**
     * By offset, what comes of an octet all of whose bits are flipped: the code of the failure; "same" if it means nothing;
     * "other" if the messages are others, or one waits for octets that do not come.
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
        List<String> unflipped = outcome(conversation.octets(), Integer.MAX_VALUE / 2);
        List<String> actual = new ArrayList<>();
        for (int at = 0; at < conversation.octets().length; at++) {
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
                .map(fired -> fired.replace("refused: ", ""))
                .filter(fired -> fired.matches("[A-Z_]+"))
                .toList();
        return failures.isEmpty() ? "other" : String.join(" ", failures);
    }

    /** One octet there is as good as another. */
    private static boolean isAmidTheLargeFrame(Transcript conversation, int at) {
        byte[] octets = conversation.octets();
        return octets[at] == 'g' && octets[at - 1] == 'g';
    }

    static List<Transcript> conversations() {
        return Transcript.ofEachVersion().toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("conversations")
    void theOutcomeDoesNotDependOnHowTheBytesAreSplit(Transcript conversation) {
        int length = conversation.octets().length;
        for (int at = 0; at < length; at += isAmidTheLargeFrame(conversation, at) ? 20 : 1) {
            for (int bits : new int[] {0xff, 1 << (at % 8)}) {
                byte[] octets = flipped(conversation, at, bits);
                List<String> inOneRead = outcome(octets, length);
                assertThat(outcome(octets, 1)).as("%d flipped by %x", at, bits).isEqualTo(inOneRead);
                assertThat(outcome(octets, 7)).as("%d flipped by %x", at, bits).isEqualTo(inOneRead);
            }
        }
    }
}
