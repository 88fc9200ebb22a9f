package dev.zmtp.internal.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.CapturedFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The queue between event loops and the file, with a writer that works when it is told to. */
class CaptureWriterTest {

    private static final int QUEUE = 64 << 10;

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    @TempDir
    private Path folder;

    private CaptureWriter writer() throws IOException {
        return new CaptureWriter(new CaptureSettings(file(), 1 << 20, 1, 1 << 20, QUEUE, QUEUE, false), tasks::add);
    }

    private Path file() {
        return folder.resolve("f.pcapng");
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    private static void send(CapturedConnection connection, int length) {
        ZMTPMessage message = ZMTPMessage.fromUTF8("x".repeat(length));
        connection.message(false, 1, message);
        message.release();
    }

    @Test
    @Tag("T100")
    void whatFindsNoRoomIsDroppedAndLeavesAGap() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        connection.opened(1, "inproc");
        send(connection, 30_000);
        send(connection, 30_000);
        send(connection, 30_000);
        assertThat(writer.dropped()).isEqualTo(1);

        runTasks();
        send(connection, 10);
        runTasks();
        writer.end();

        CapturedFile captured = CapturedFile.read(file());
        assertThat(captured.packets).hasSize(6);
        assertThat(captured.packets.get(5).sequence()).isEqualTo(1 + 3 * 30_009);
        assertThat(captured.dropped).containsExactly(1L);
        assertThat(writer.packets()).isEqualTo(6);
    }

    /** Otherwise, such a file would look complete. */
    @Test
    void anEndpointWithoutAWrittenPacketHasItsDroppedPacketsInTheFile() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        send(connection, QUEUE);
        writer.dropped(2);
        writer.end();

        CapturedFile captured = CapturedFile.read(file());
        assertThat(captured.interfaces).containsExactly("inproc://a: PUSH, connected", "none: not established");
        assertThat(captured.dropped).containsExactly(3L, 2L);
    }

    @Test
    void aFileWithoutPacketsHasStatistics() throws IOException {
        writer().end();

        assertThat(CapturedFile.read(file()).dropped).containsExactly(0L);
    }

    @Test
    void packetsThatFindTheFileFullAreInItsStatistics() throws IOException {
        CaptureWriter writer =
                new CaptureWriter(new CaptureSettings(file(), 1_000, 1, QUEUE, QUEUE, QUEUE, false), tasks::add);
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        send(connection, 1_000);
        runTasks();
        writer.end();

        assertThat(CapturedFile.read(file()).dropped).containsExactly(1L);
        assertThat(writer.dropped()).isEqualTo(1);
    }

    /** The file is complete up to its end. */
    @Test
    void packetsAfterTheCloseAreNotInTheStatistics() throws IOException {
        AtomicReference<Runnable> whileClosing = new AtomicReference<>(() -> {});
        CaptureSettings settings = new CaptureSettings(file(), 1 << 20, 1, QUEUE, QUEUE, QUEUE, false);
        CaptureWriter writer = new CaptureWriter(settings, task -> {
            whileClosing.get().run();
            task.run();
        });
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        connection.opened(1, "inproc");
        whileClosing.set(() -> send(connection, 10));
        writer.close();

        assertThat(CapturedFile.read(file()).dropped).containsExactly(0L);
        assertThat(writer.dropped()).isEqualTo(1);
    }

    /** Then the queue and the statistics are written by the thread that closes. */
    @Test
    void aCaptureIsCompleteWithoutAThread() throws IOException {
        CaptureSettings settings = new CaptureSettings(file(), 1 << 20, 1, QUEUE, QUEUE, QUEUE, false);
        CaptureWriter writer = new CaptureWriter(settings, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        connection.opened(1, "inproc");

        writer.close();

        CapturedFile captured = CapturedFile.read(file());
        assertThat(captured.packets).hasSize(3);
        assertThat(captured.dropped).containsExactly(0L);
    }

    @Test
    void aMessageThatIsTooLargeForAReaderIsDropped() throws IOException {
        CaptureWriter writer =
                new CaptureWriter(new CaptureSettings(file(), 1 << 20, 1, QUEUE, QUEUE, 1_000, false), tasks::add);
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        send(connection, 1_000);
        send(connection, 500);
        runTasks();
        writer.end();

        assertThat(CapturedFile.read(file()).dropped).containsExactly(1L);
        assertThat(writer.packets()).isEqualTo(1);
    }

    /** Room that was reserved and not used is free again. */
    @Test
    void anyNumberOfPacketsFindsRoomInTurn() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        for (int i = 0; i < 2_000; i++) {
            send(connection, i % 300);
            runTasks();
        }
        writer.end();

        assertThat(writer.dropped()).isZero();
        assertThat(writer.queued()).isZero();
    }

    /** As by a process that is killed later. */
    @Test
    @Tag("T103")
    void whatWasWrittenCanBeReadBeforeTheEnd() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        connection.opened(1, "inproc");
        runTasks();

        assertThat(CapturedFile.read(file()).packets).hasSize(3);
        writer.end();
    }

    /** An interrupt closes the file, as a disk that is full fails a write. */
    @Test
    void aFileThatCannotBeWrittenEndsTheCapture() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        connection.opened(1, "inproc");
        Thread.currentThread().interrupt();
        runTasks();
        assertThat(Thread.interrupted()).isTrue();

        send(connection, 10);
        runTasks();

        assertThat(writer.dropped()).isEqualTo(1);
        assertThat(writer.queued()).isZero();
        writer.end(); // so that the close need not wait
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(writer::close)
                .withMessageStartingWith("the capture could not be written: ");
        writer.close();
    }

    @Test
    void aMessageThatCannotBeCopiedLeavesNoRoomReserved() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        ByteBuf released = Unpooled.buffer().writeZero(10);
        ZMTPMessage message = ZMTPMessage.from(released, Unpooled.buffer().writeZero(10));
        released.release();

        assertThatThrownBy(() -> connection.message(false, 1, message)).isInstanceOf(RuntimeException.class);

        assertThat(writer.queued()).isZero();
        writer.end();
    }

    /** Wireshark needs a header in one piece. */
    @Test
    void aLongHeaderBeginsASegmentIfItWouldBeCut() throws IOException {
        CaptureWriter writer = writer();
        CapturedConnection connection =
                new CapturedConnection(writer, writer.at("inproc://a", "PUSH, connected"), null, null, false);
        ZMTPMessage message = ZMTPMessage.fromUTF8("x".repeat(32_755), "y".repeat(300));
        connection.message(false, 1, message);
        message.release();
        runTasks();
        writer.end();

        assertThat(CapturedFile.read(file()).packets)
                .extracting(CapturedFile.Packet::length)
                .containsExactly(9 + 32_755, 9 + 300);
    }

    @Test
    void furtherEndpointsShareTheLastInterface() throws IOException {
        CaptureWriter writer = writer();
        for (int i = 0; i < 1_000; i++) {
            writer.at("inproc://" + i, "");
        }

        assertThat(writer.at("inproc://1000", "")).isSameAs(writer.at("inproc://999", ""));
        assertThat(writer.at("inproc://3", "")).isNotSameAs(writer.at("inproc://999", ""));
        writer.end();
    }

    @Test
    @Tag("T105")
    void aUserWithControlCharactersIsShownInHex() {
        CapturedHandshake handshake = new CapturedHandshake(
                "ZMTP31, PLAIN",
                "a\n\0b",
                ZMTPSocketType.PULL,
                ZMTPMetadata.EMPTY,
                ZMTPSocketType.PUSH,
                ZMTPMetadata.EMPTY);

        assertThat(handshake.describe("test://jobs")).isEqualTo("test://jobs: ZMTP31, PLAIN, user 0x610a0062");
    }
}
