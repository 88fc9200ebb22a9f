package dev.zmtp.fuzz;

import dev.zmtp.shm.SharedMemoryPipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A ring of shared memory, with a third process that writes into its control words. As long as it does not, all bytes
 * arrive in order. Then there are bytes of any kind or an IOException, and no side says more than the ring can hold.
 */
public final class RingFuzz {

    private static final int CAPACITY = 4096;
    private static final int CONTROL = 512;

    private final Input input;
    private final SharedMemoryPipe writing;
    private final SharedMemoryPipe reading;
    private final MappedByteBuffer memory;
    private boolean attacked;
    private long written;
    private long flushed;
    private long read;

    private RingFuzz(Input input, Path file) throws IOException {
        this.input = input;
        this.writing = SharedMemoryPipe.create(file, CAPACITY);
        this.reading = SharedMemoryPipe.open(file, CAPACITY);
        try (FileChannel attacker = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            this.memory = attacker.map(FileChannel.MapMode.READ_WRITE, 0, CONTROL + CAPACITY);
        }
        memory.order(ByteOrder.nativeOrder());
        writing.unlink();
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        try {
            Path directory = Files.createTempDirectory("ring");
            try {
                new RingFuzz(new Input(bytes), directory.resolve("ring")).run();
            } finally {
                Files.delete(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void run() {
        try {
            while (!input.isEmpty()) {
                act();
            }
        } catch (IOException e) {
            FuzzFailure.unless(attacked, "an attack", e);
            FuzzFailure.unless(e.getMessage().startsWith("shared memory: "), "a message", e);
        }
    }

    private void act() throws IOException {
        switch (input.choice(6)) {
            case 0 -> write(input.oneByte() * input.number(1, 16, 64));
            case 1 -> read(input.oneByte() * input.number(1, 16, 64));
            case 2 -> {
                writing.writer().flush();
                flushed = written;
            }
            case 3 -> reading.reader().release();
            case 4 -> sleep();
            default -> attack();
        }
    }

    private void write(int length) throws IOException {
        ByteBuffer source = ByteBuffer.allocate(length);
        for (int i = 0; i < length; i++) {
            source.put(i, (byte) (written + i));
        }
        int taken = writing.writer().write(source);
        FuzzFailure.unless(taken <= Math.min(length, CAPACITY), "taken", taken);
        written += taken;
    }

    private void read(int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int taken = reading.reader().read(target);
        FuzzFailure.unless(taken <= Math.min(length, CAPACITY), "taken", taken);
        for (int i = 0; i < taken && !attacked; i++) {
            FuzzFailure.unlessEqual(target.get(i), (byte) (read + i), "byte " + (read + i));
        }
        read += taken;
        FuzzFailure.unless(attacked || read <= flushed, "read before the flush", read);
    }

    /** Whoever may sleep has nothing to do. */
    private void sleep() throws IOException {
        boolean readerSleeps = reading.reader().beforeSleep();
        boolean writerSleeps = writing.writer().beforeSleep();
        FuzzFailure.unless(attacked || readerSleeps == (read == flushed), "the reader sleeps", readerSleeps);
        FuzzFailure.unless(attacked || !writerSleeps || written - read <= CAPACITY, "the writer sleeps", writerSleeps);
    }

    private void attack() {
        attacked = true;
        int word = input.choice(CONTROL / Long.BYTES) * Long.BYTES;
        long now = memory.getLong(word);
        long next = switch (input.choice(4)) {
            case 0 -> now + input.oneByte();
            case 1 -> now - input.oneByte();
            case 2 ->
                ByteBuffer.allocate(Long.BYTES)
                        .put(input.bytes(Long.BYTES))
                        .rewind()
                        .getLong();
            default -> now + CAPACITY;
        };
        memory.putLong(word, next);
    }
}
