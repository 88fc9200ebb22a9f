package dev.zmtp.internal.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.testing.SmallRecording;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that are not as a capture writes them. */
class RecordingReaderTest {

    private static final long NANOS = 1_764_190_000_000_000_000L;
    private static final long MAX_MEMORY = 64L << 20;

    private static RecordingSource source(byte[] file) {
        return (target, position) -> {
            if (position >= file.length) {
                return -1;
            }
            int length = (int) Math.min(target.remaining(), file.length - position);
            target.put(file, (int) position, length);
            return length;
        };
    }

    private static RecordingSummary summarize(byte[] file) throws IOException {
        return RecordingReader.summarize(source(file), file.length);
    }

    private static List<ZMTPRecording.Entry> entries(byte[] file) throws IOException {
        RecordingReader reader = RecordingReader.of(source(file), summarize(file));
        List<ZMTPRecording.Entry> entries = new ArrayList<>();
        for (ZMTPRecording.Entry next = reader.next(); next != null; next = reader.next()) {
            entries.add(next);
        }
        return entries;
    }

    @Test
    void theSmallFileIsComplete() throws IOException {
        byte[] file = SmallRecording.bytes();

        assertThat(summarize(file).complete()).isTrue();
        assertThat(entries(file))
                .extracting(ZMTPRecording.Entry::kind)
                .containsExactly(
                        ZMTPRecording.Kind.UP,
                        ZMTPRecording.Kind.SUBSCRIBED,
                        ZMTPRecording.Kind.SENT,
                        ZMTPRecording.Kind.DOWN);
    }

    /** The reader either reads another recording, or names what is wrong. */
    @Test
    @Tag("T114")
    void eachByteThatIsFlippedIsReadOrNamed() throws IOException {
        byte[] file = SmallRecording.bytes();
        int named = 0;
        int incomplete = 0;
        for (int i = 0; i < file.length; i++) {
            for (int flip : new int[] {0xff, 1, 2, 4, 8, 16, 32, 64, 128}) {
                byte[] flipped = file.clone();
                flipped[i] ^= (byte) flip;
                long before = allocated();
                String message = "none: 0 (expected: 0)";
                try {
                    incomplete += summarize(flipped).complete() ? 0 : 1;
                    entries(flipped);
                } catch (IOException e) {
                    message = e.getMessage();
                    named++;
                }
                long after = allocated();
                assertThat(message).as("byte %s", i).matches(".+: .+ \\(expected: .+\\)");
                assertThat(after - before).as("memory of byte %s", i).isLessThan(1 << 20);
            }
        }
        assertThat(named).isGreaterThan(file.length * 9 / 3);
        assertThat(incomplete).isPositive();
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }

    /** A block by its number, the offset in it of an int, and the int. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0  | 0x01020304 | block type: 0x01020304 (expected: 0x0a0d0d0a, a section of pcapng)",
                "0 | 8  | 0x4d3c2b1a | byte order: 0x4d3c2b1a (expected: 0x1a2b3c4d, little-endian)",
                "0 | 12 | 0x00000002 | version of pcapng: 2.0 (expected: 1.0)",
                "0 | 4  | 0x0000000d | block length: 13 (expected: 12 to 65536, a multiple of 4)",
                "0 | 4  | 0xfffffffc | block length: 4294967292 (expected: 12 to 65536, a multiple of 4)",
                "0 | 4  | 0x00000000 | block length: 0 (expected: 12 to 65536, a multiple of 4)",
                "1 | 0  | 0x00000004 | block type: 0x00000004 (expected: 1, 5 or 6, the blocks of a capture)",
                "1 | 8  | 0x00000001 | link type: 1 (expected: 101, raw IP)",
                "1 | 16 | 0xffff0002 | option length: 65535 (expected: <= 44)",
                "2 | 8  | 0x00000001 | number of an interface: 1 (expected: < 1)",
                "2 | 12 | 0xffffffff | time: 18446744070393635392 ns (expected: <= 9223372036854775807)",
                "2 | 20 | 0x7fffffff | captured length: 2147483647 (expected: <= 84)",
                "2 | 24 | 0x00000001 | packet length: 1 (expected: 40 to 65536)",
                "2 | 28 | 0x28000046 | IP header: 0x46 (expected: 0x45 or 0x60, without options)",
                "2 | 28 | 0x29000045 | length in the IP header: 41 (expected: 40)",
                "2 | 36 | 0x00001140 | IP protocol: 17 (expected: 6, which is TCP)",
                "2 | 40 | 0x00000000 | checksum of the IP header: 0x",
                "5 | 68 | 0x000000fe | greeting: 0xfe at 0 (expected: 0xff, as in a capture of ZMTP)",
                "9 | 68 | 0x53090aff | frame flags: 0xff (expected: reserved bits 0)",
                "9 | 68 | 0x53080a04 | frame: UNKNOWN (expected: SUBSCRIBE, CANCEL, JOIN or LEAVE)"
            })
    void aWrongValueIsNamedWithTheExpectedOnes(int block, int offset, String value, String message) throws IOException {
        byte[] file = SmallRecording.bytes();
        int index = SmallRecording.blocks(file).get(block) + offset;
        ByteBuffer.wrap(file)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(index, Long.decode(value).intValue());

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(file))
                .withMessageStartingWith(message);
    }

    @Test
    void anEmptyFileIsNoRecording() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(new byte[0]))
                .withMessage("file length: 0 (expected: >= 28, a section of pcapng)");
    }

    /** Otherwise a replay would take what is left for the whole recording. */
    @Test
    void aFileThatHasBecomeShorterIsNamed() throws IOException {
        byte[] file = SmallRecording.bytes();
        RecordingSummary summary = summarize(file);
        byte[] shorter = Arrays.copyOf(file, SmallRecording.blocks(file).get(9));

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> RecordingReader.of(source(shorter), summary).next())
                .withMessage("file length: <= " + shorter.length + " (expected: " + file.length
                        + ", as when the file was opened)");
    }

    @Test
    void aTimeThatIsYearsAwayIsNamed() throws IOException {
        byte[] file = SmallRecording.bytes();
        int index = SmallRecording.blocks(file).get(9) + 12;
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(index, 0x7fffffff);

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(file))
                .withMessageMatching("time of the last packet: PT.* \\(expected: <= PT8784H\\)");
    }

    /** A file with packets of this payload after a handshake. */
    private static byte[] withPayloads(byte[]... payloads) throws IOException {
        return withCutPayloads(0, payloads);
    }

    /** A file with packets of which this number of bytes after the payload was not captured. */
    private static byte[] withCutPayloads(int missing, byte[]... payloads) throws IOException {
        byte[] file = SmallRecording.bytes();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<Integer> blocks = SmallRecording.blocks(file);
        out.write(file, 0, blocks.get(9));
        int sequence = ByteBuffer.wrap(file).getInt(blocks.get(9) + 28 + 24);
        TcpPackets tcp = TcpPackets.between(null, null, () -> 1);
        for (byte[] payload : payloads) {
            int captured = 40 + payload.length;
            ByteBuffer block = PcapngBlocks.beginPacket(NANOS, captured, captured + missing, null);
            tcp.put(block, false, sequence, 0, TcpPackets.PSH | TcpPackets.ACK, payload.length + missing);
            out.writeBytes(PcapngBlocks.endPacket(block.put(payload), PcapngBlocks.IN, null));
            sequence += payload.length + missing;
        }
        return out.toByteArray();
    }

    private static byte[] header(long length) {
        return ByteBuffer.allocate(9).put((byte) 2).putLong(length).array();
    }

    @Test
    @Tag("T114")
    void aLengthThatTheFileCannotHaveTakesNoMemory() throws IOException {
        byte[] file = withPayloads(header(1L << 62));
        long before = allocated();

        assertThat(summarize(file).complete()).isFalse();
        assertThat(allocated() - before).isLessThan(1 << 20);
    }

    /** A capture can have messages that are longer than those of a recording. */
    @Test
    void framesThatWereCutTakeOnlyWhatWasCaptured() throws IOException {
        byte[][] payloads = new byte[700][];
        for (int i = 0; i < payloads.length; i++) {
            payloads[i] = Arrays.copyOf(header(59_991), 30_000);
            payloads[i][0] |= (byte) (i < 699 ? 1 : 0); // more follows
        }

        List<ZMTPRecording.Entry> entries = entries(withCutPayloads(30_000, payloads));

        assertThat(entries.get(entries.size() - 1).frames())
                .hasSize(700)
                .allSatisfy(frame -> assertThat(frame).hasSize(29_991));
    }

    @Test
    @Tag("T114")
    void aMessageOfTooManyBytesIsNamed() throws IOException {
        byte[][] payloads = new byte[1_000][];
        Arrays.fill(payloads, new byte[30_000]);
        payloads[0] = header(25L << 20);

        byte[] file = withPayloads(payloads);
        long before = allocated();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(file))
                .withMessage("unfinished messages: 25170048 bytes (expected: <= 25165824)");
        assertThat(allocated() - before).isLessThan(2 * MAX_MEMORY); // in total, while the frame grows
    }

    /** Each frame takes memory, even without a byte. */
    @Test
    @Tag("T114")
    void aMessageOfTooManyFramesIsNamed() throws IOException {
        byte[] frames = new byte[32_000];
        for (int i = 0; i < frames.length; i += 2) {
            frames[i] = 1; // more follows a frame without bytes
        }
        byte[][] payloads = new byte[100][];
        Arrays.fill(payloads, frames);
        byte[] file = withPayloads(payloads);
        long before = allocated();

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(file))
                .withMessage("unfinished messages: 25165872 bytes (expected: <= 25165824)");
        assertThat(allocated() - before).isLessThan(MAX_MEMORY);
    }

    @Test
    void whatFollowsAGapIsRead() throws IOException {
        byte[] file = SmallRecording.bytes();
        List<Integer> blocks = SmallRecording.blocks(file);
        byte[] rest = Arrays.copyOfRange(file, blocks.get(10), file.length);
        byte[] gap = Arrays.copyOf(file, blocks.get(9) + rest.length);
        System.arraycopy(rest, 0, gap, blocks.get(9), rest.length);

        assertThat(summarize(gap).complete()).isFalse();
        assertThat(entries(gap))
                .extracting(ZMTPRecording.Entry::kind)
                .containsExactly(ZMTPRecording.Kind.UP, ZMTPRecording.Kind.SENT, ZMTPRecording.Kind.DOWN);
    }

    /** A file with the first packets of connections. */
    private static byte[] withConnections(IntStream numbers) throws IOException {
        byte[] file = SmallRecording.bytes();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(file, 0, SmallRecording.blocks(file).get(2));
        numbers.forEach(number -> {
            TcpPackets tcp = TcpPackets.between(null, null, () -> number);
            ByteBuffer block = PcapngBlocks.beginPacket(NANOS, 40, 40, null);
            tcp.put(block, true, 0, 0, TcpPackets.SYN, 0);
            out.writeBytes(PcapngBlocks.endPacket(block, PcapngBlocks.IN, null));
        });
        return out.toByteArray();
    }

    /** The packet that has ended a connection can be one of those that found no room. */
    @Test
    void connectionsWhoseEndsAreLostMakeARecordingIncomplete() throws IOException {
        byte[] connections = withConnections(IntStream.concat(IntStream.of(0), IntStream.range(0, 20_000)));
        long before = allocated();

        assertThat(summarize(connections).complete()).isFalse();
        assertThat(allocated() - before).isLessThan(MAX_MEMORY);
    }

    @Test
    @Tag("T114")
    void tooManyConnectionsAreNamed() throws IOException {
        byte[] connections = withConnections(IntStream.range(0, 20_000));
        long before = allocated();

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> summarize(connections))
                .withMessage("connections: 16385 (expected: <= 16384)");
        assertThat(allocated() - before).isLessThan(MAX_MEMORY);
    }
}
