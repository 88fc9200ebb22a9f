package dev.zmtp.compare.peer;

import io.aeron.Aeron;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Aeron's IPC: two processes with messages in memory that they share, and no protocol. Its threads never sleep. The end
 * that binds has the media driver, whose thread sleeps for a millisecond at a time: it is not on the way of the messages.
 *
 * <p>All settings are Aeron's defaults but the times after which a process counts as dead: those of a comparison are
 * stopped while others run.
 */
final class AeronIpc {

    private static final Set<Workload> SUPPORTED = EnumSet.of(Workload.ONEWAY, Workload.ROUNDTRIP, Workload.LATENCY);

    private static final int FORWARD = 1001;
    private static final int BACK = 1002;

    /** Fragments that are taken at a time. */
    private static final int BATCH = 256;

    /** More does not fit into one fragment. */
    private static final int MAX_SIZE = 1376;

    private static final int PORTS = 65_535;
    private static final long LONG_MILLIS = TimeUnit.HOURS.toMillis(1);
    private static final long LONG_NANOS = TimeUnit.HOURS.toNanos(1);

    private final Program program;
    private final Arguments arguments;
    private final Counter messages;
    private final Aeron aeron;

    private AeronIpc(Program program, String directory) {
        this.program = program;
        this.arguments = program.arguments();
        this.messages = program.messages(arguments.role().binds());
        this.aeron =
                Aeron.connect(new Aeron.Context().aeronDirectoryName(directory).driverTimeoutMs(LONG_MILLIS));
    }

    static void start(Program program) throws UnsupportedException {
        Arguments arguments = program.arguments();
        if (arguments.medium() != Medium.SHM || arguments.role() == Role.PAIR) {
            throw new UnsupportedException("it is measured between two processes that share memory");
        }
        if (!SUPPORTED.contains(arguments.workload())) {
            throw new UnsupportedException("it is measured one way and in round trips");
        }
        if (Math.max(arguments.size(), Math.max(arguments.ping(), arguments.pong())) > MAX_SIZE) {
            throw new UnsupportedException("only messages of one fragment are measured");
        }
        if (arguments.role().binds()) {
            int number = (int) (ProcessHandle.current().pid() % PORTS) + 1;
            launchDriver(directory(number));
            AeronIpc end = new AeronIpc(program, directory(number));
            program.bound(number);
            program.start(end::serve);
        } else {
            AeronIpc end = new AeronIpc(program, directory(arguments.port()));
            program.start(end::drive);
        }
    }

    private static String directory(int number) {
        return "/dev/shm/netty-zmtp-compare-aeron-" + number;
    }

    private static void launchDriver(String directory) {
        MediaDriver driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(directory)
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new SleepingMillisIdleStrategy(1))
                .clientLivenessTimeoutNs(LONG_NANOS)
                .publicationUnblockTimeoutNs(2 * LONG_NANOS)
                .imageLivenessTimeoutNs(LONG_NANOS)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
        Runtime.getRuntime().addShutdownHook(new Thread(driver::close));
    }

    private Subscription subscription(int stream) {
        return aeron.addSubscription(CommonContext.IPC_CHANNEL, stream);
    }

    private ExclusivePublication publication(int stream) {
        return aeron.addExclusivePublication(CommonContext.IPC_CHANNEL, stream);
    }

    private void serve() {
        Subscription pings = subscription(FORWARD);
        ExclusivePublication pongs = publication(BACK);
        UnsafeBuffer pong = buffer(arguments.pong());
        boolean answers = arguments.workload() == Workload.ROUNDTRIP;
        boolean timed = arguments.workload() == Workload.LATENCY;
        FragmentHandler handler = (bytes, offset, length, header) -> {
            if (timed) {
                program.latencies().record(System.nanoTime() - bytes.getLong(offset));
            } else if (bytes.getByte(offset) != 0) {
                throw new IllegalStateException("first byte: " + bytes.getByte(offset) + " (expected: 0)");
            }
            if (answers) {
                send(pongs, pong);
                messages.add(1);
            }
        };
        while (true) {
            int received = pings.poll(handler, BATCH);
            if (received == 0) {
                Thread.onSpinWait();
            } else if (!answers) {
                messages.add(received);
            }
        }
    }

    private void drive() {
        ExclusivePublication publication = publication(FORWARD);
        Subscription pongs = subscription(BACK);
        while (!publication.isConnected() || !pongs.isConnected()) {
            Thread.onSpinWait();
        }
        program.ready();
        switch (arguments.workload()) {
            case ROUNDTRIP -> ping(publication, pongs);
            case LATENCY -> sendOnTime(publication);
            default -> sendAll(publication);
        }
    }

    private void sendAll(ExclusivePublication publication) {
        UnsafeBuffer message = buffer(arguments.size());
        while (true) {
            send(publication, message);
            messages.add(1);
        }
    }

    private void sendOnTime(ExclusivePublication publication) {
        UnsafeBuffer message = buffer(arguments.size());
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
            send(publication, message);
            if (schedule.isLate(now)) {
                program.late().add(1);
            }
            schedule.next();
            messages.add(1);
        }
    }

    private void ping(ExclusivePublication publication, Subscription pongs) {
        UnsafeBuffer ping = buffer(arguments.ping());
        FragmentHandler nothing = (bytes, offset, length, header) -> {};
        while (true) {
            long sent = System.nanoTime();
            send(publication, ping);
            while (pongs.poll(nothing, 1) == 0) {
                Thread.onSpinWait();
            }
            program.latencies().record(System.nanoTime() - sent);
            messages.add(1);
        }
    }

    private static UnsafeBuffer buffer(int size) {
        return new UnsafeBuffer(ByteBuffer.allocateDirect(size));
    }

    private static void send(ExclusivePublication publication, UnsafeBuffer message) {
        long position = publication.offer(message, 0, message.capacity());
        while (position < 0) {
            if (position != Publication.BACK_PRESSURED && position != Publication.ADMIN_ACTION) {
                throw new IllegalStateException("offer: " + Publication.errorString(position));
            }
            Thread.onSpinWait();
            position = publication.offer(message, 0, message.capacity());
        }
    }
}
