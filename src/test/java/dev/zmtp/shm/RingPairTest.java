package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Buffers of any kind go through the two rings of a connection. */
class RingPairTest {

    private static final int CAPACITY = 4096;
    private static final int ROUNDS = 2_000;

    @TempDir
    Path directory;

    /** Messages that did not arrive as they were written. */
    private final AtomicInteger wrong = new AtomicInteger();

    private final List<ByteBuf> buffers = new ArrayList<>();
    private RingPair server;
    private RingPair client;

    @BeforeEach
    void join() throws IOException {
        SharedFile file = SharedFile.create(directory.resolve("rings"), 2, CAPACITY);
        server = RingPair.of(file, true);
        client = RingPair.of(file, false);
    }

    @AfterEach
    void release() {
        buffers.forEach(ByteBuf::release);
    }

    /** A buffer with the bytes {@code first}, {@code first} + 1 and so on. */
    private static ByteBuf bytes(int first, int length) {
        ByteBuf bytes = ByteBufAllocator.DEFAULT.directBuffer(length);
        for (int i = 0; i < length; i++) {
            bytes.writeByte(first + i);
        }
        return bytes;
    }

    /** A buffer of parts of these lengths, whose bytes count from 0. */
    private CompositeByteBuf parts(int... lengths) {
        CompositeByteBuf parts = ByteBufAllocator.DEFAULT.compositeBuffer(lengths.length);
        buffers.add(parts);
        for (int length : lengths) {
            parts.addComponent(true, bytes(parts.writerIndex(), length));
        }
        return parts;
    }

    private ByteBuf room(int length) {
        ByteBuf room = ByteBufAllocator.DEFAULT.directBuffer(length, length);
        buffers.add(room);
        return room;
    }

    @Test
    void eachSideReadsWhatTheOtherWrites() throws IOException {
        ByteBuf request = parts(3);
        ByteBuf response = parts(5);
        assertThat(server.filling().write(request, 3)).isEqualTo(3);
        assertThat(client.filling().write(response, 5)).isEqualTo(5);
        server.writer().flush();
        client.writer().flush();

        ByteBuf atClient = room(10).writeZero(2);
        assertThat(client.read(atClient)).isEqualTo(3);
        assertThat(atClient.skipBytes(2)).isEqualTo(request);
        ByteBuf atServer = room(4);
        assertThat(server.read(atServer)).isEqualTo(4);
        assertThat(atServer).isEqualTo(response.slice(0, 4));
    }

    @Test
    void aBufferOfSeveralPartsIsWrittenInOrder() throws IOException {
        ByteBuf parts = parts(100, 1, 2000);
        assertThat(server.filling().write(parts.skipBytes(10), 2000)).isEqualTo(2000);
        assertThat(parts.readableBytes()).isEqualTo(2091);
        server.writer().flush();
        ByteBuf read = room(CAPACITY);
        assertThat(client.read(read)).isEqualTo(2000);
        assertThat(read).isEqualTo(parts.slice(10, 2000));
    }

    @Test
    void asMuchOfSeveralPartsIsWrittenAsThereIsRoomFor() throws IOException {
        ByteBuf parts = parts(3000, 1000, 2000, 1);
        assertThat(server.filling().write(parts, 6001)).isEqualTo(CAPACITY);
        server.writer().flush();
        ByteBuf read = room(CAPACITY);
        client.read(read);
        client.reader().release();
        assertThat(read).isEqualTo(parts.slice(0, CAPACITY));
        parts.skipBytes(CAPACITY);
        assertThat(server.filling().write(parts, parts.readableBytes())).isEqualTo(6001 - CAPACITY);
    }

    /** As those of a message are that is encoded once for many. */
    @Test
    void duplicatesOfOneBufferAreWrittenByTwoThreadsAtOnce() throws Exception {
        ByteBuf message = bytes(0, 256);
        buffers.add(message);
        Thread other = new Thread(() -> writeDuplicates(server, client, message));
        other.start();
        SharedFile file = SharedFile.create(directory.resolve("others"), 2, CAPACITY);
        writeDuplicates(RingPair.of(file, true), RingPair.of(file, false), message);
        other.join();
        assertThat(wrong).hasValue(0);
    }

    private void writeDuplicates(RingPair from, RingPair to, ByteBuf message) {
        ByteBuf read = ByteBufAllocator.DEFAULT.directBuffer(256, 256);
        try {
            for (int i = 0; i < 50_000; i++) {
                int start = i % 200;
                ByteBuf duplicate = message.duplicate().skipBytes(start);
                from.filling().write(duplicate, 256 - start);
                from.writer().flush();
                to.read(read.clear());
                to.reader().release();
                if (!read.equals(duplicate)) {
                    wrong.incrementAndGet();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            read.release();
        }
    }

    /** The reader makes room between two of them. */
    @Test
    void partsStayInOrderWhileTheReaderMakesRoom() throws Exception {
        ByteBuf parts = parts(1000, 3000, 500, 2000);
        Thread reader = new Thread(() -> readRounds(parts));
        reader.start();
        for (int i = 0; i < ROUNDS; i++) {
            ByteBuf rest = parts.duplicate();
            while (rest.isReadable()) {
                rest.skipBytes(server.filling().write(rest, rest.readableBytes()));
                server.writer().flush();
                Thread.onSpinWait();
            }
        }
        reader.join();
        assertThat(wrong).hasValue(0);
    }

    private void readRounds(ByteBuf expected) {
        int length = expected.readableBytes();
        ByteBuf read = ByteBufAllocator.DEFAULT.directBuffer(length, length);
        try {
            for (int i = 0; i < ROUNDS; i++) {
                read.clear();
                while (read.isWritable()) {
                    client.read(read);
                    client.reader().release();
                    Thread.onSpinWait();
                }
                if (!read.equals(expected)) {
                    wrong.incrementAndGet();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            read.release();
        }
    }

    @Test
    void aWriterKnowsItsCapacity() {
        assertThat(Arrays.asList(server.writer(), client.writer()))
                .allSatisfy(writer -> assertThat(writer.capacity()).isEqualTo(CAPACITY));
    }
}
