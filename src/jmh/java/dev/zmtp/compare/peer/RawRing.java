package dev.zmtp.compare.peer;

import dev.zmtp.shm.SharedMemoryPipe;
import dev.zmtp.shm.SharedMemoryReader;
import dev.zmtp.shm.SharedMemoryWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/**
 * The ring below our shared memory alone: a pipe each way between two processes, whose threads never sleep. There is no
 * event loop, no buffer and no protocol: a message is so many bytes, written at once and read into one buffer.
 */
final class RawRing {

    private static final Set<Workload> SUPPORTED = EnumSet.of(Workload.ONEWAY, Workload.ROUNDTRIP, Workload.LATENCY);

    /** That of a channel that shares memory. */
    private static final int CAPACITY = 256 << 10;

    /** Messages that are written between two flushes. */
    private static final int BATCH = 128;

    private static final int READ = 64 << 10;
    private static final int PORTS = 65_535;

    private final Program program;
    private final Arguments arguments;
    private final Counter messages;
    private final SharedMemoryReader in;
    private final SharedMemoryWriter out;

    private RawRing(Program program, SharedMemoryPipe in, SharedMemoryPipe out) {
        this.program = program;
        this.arguments = program.arguments();
        this.messages = program.messages(arguments.role().binds());
        this.in = in.reader();
        this.out = out.writer();
    }

    static void start(Program program) throws UnsupportedException, IOException {
        Arguments arguments = program.arguments();
        if (arguments.medium() != Medium.SHM || arguments.role() == Role.PAIR) {
            throw new UnsupportedException("it is measured between two processes that share memory");
        }
        if (!SUPPORTED.contains(arguments.workload())) {
            throw new UnsupportedException("it is measured one way and in round trips");
        }
        if (arguments.role().binds()) {
            int number = (int) (ProcessHandle.current().pid() % PORTS) + 1;
            RawRing end = new RawRing(program, create(number, "there"), create(number, "back"));
            program.bound(number);
            program.start(end::serve);
        } else {
            SharedMemoryPipe back = open(arguments.port(), "back");
            RawRing end = new RawRing(program, back, open(arguments.port(), "there"));
            program.ready();
            program.start(end::drive);
        }
    }

    private static Path file(int number, String direction) {
        return Path.of("/dev/shm", "netty-zmtp-compare-ring-" + number + "-" + direction);
    }

    private static SharedMemoryPipe create(int number, String direction) throws IOException {
        Path file = file(number, direction);
        SharedMemoryPipe pipe = SharedMemoryPipe.create(file, CAPACITY);
        file.toFile().deleteOnExit(); // if nobody opens it
        return pipe;
    }

    private static SharedMemoryPipe open(int number, String direction) throws IOException {
        SharedMemoryPipe pipe = SharedMemoryPipe.open(file(number, direction), CAPACITY);
        pipe.unlink();
        return pipe;
    }

    // The end that binds

    private void serve() throws IOException {
        switch (arguments.workload()) {
            case ROUNDTRIP -> answer();
            case LATENCY -> receiveOnTime();
            default -> receiveAll();
        }
    }

    private void receiveAll() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(READ);
        long bytes = 0;
        long counted = 0;
        while (true) {
            buffer.clear();
            int read = in.read(buffer);
            if (read == 0) {
                Thread.onSpinWait();
                continue;
            }
            in.release();
            bytes += read;
            long whole = bytes / arguments.size();
            messages.add(whole - counted);
            counted = whole;
        }
    }

    private void receiveOnTime() throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(arguments.size());
        while (true) {
            receive(message);
            program.latencies().record(System.nanoTime() - message.getLong(0));
            messages.add(1);
        }
    }

    private void answer() throws IOException {
        ByteBuffer ping = ByteBuffer.allocateDirect(arguments.ping());
        ByteBuffer pong = ByteBuffer.allocateDirect(arguments.pong());
        while (true) {
            receive(ping);
            send(pong);
            messages.add(1);
        }
    }

    // The end that connects

    private void drive() throws IOException {
        switch (arguments.workload()) {
            case ROUNDTRIP -> ask();
            case LATENCY -> sendOnTime();
            default -> sendAll();
        }
    }

    private void sendAll() throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(arguments.size());
        while (true) {
            for (int i = 0; i < BATCH; i++) {
                write(message);
            }
            out.flush();
            messages.add(BATCH);
        }
    }

    private void sendOnTime() throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(arguments.size());
        Schedule schedule = program.schedule();
        schedule.restart();
        while (true) {
            long now = System.nanoTime();
            schedule.begin(now);
            if (schedule.due() > now) {
                Thread.onSpinWait();
                continue;
            }
            message.putLong(0, schedule.due());
            send(message);
            if (schedule.isLate(now)) {
                program.late().add(1);
            }
            schedule.next();
            messages.add(1);
        }
    }

    private void ask() throws IOException {
        ByteBuffer ping = ByteBuffer.allocateDirect(arguments.ping());
        ByteBuffer pong = ByteBuffer.allocateDirect(arguments.pong());
        while (true) {
            long sent = System.nanoTime();
            send(ping);
            receive(pong);
            program.latencies().record(System.nanoTime() - sent);
            messages.add(1);
        }
    }

    // Both

    private void send(ByteBuffer message) throws IOException {
        write(message);
        out.flush();
    }

    /** Writes the message whole; what was written before is flushed while there is no room. */
    private void write(ByteBuffer message) throws IOException {
        message.clear();
        out.write(message);
        while (message.hasRemaining()) {
            out.flush();
            Thread.onSpinWait();
            out.write(message);
        }
    }

    private void receive(ByteBuffer message) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            if (in.read(message) == 0) {
                Thread.onSpinWait();
            } else {
                in.release();
            }
        }
    }
}
