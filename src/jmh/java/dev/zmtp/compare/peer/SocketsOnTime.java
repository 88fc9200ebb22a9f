package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.function.BooleanSupplier;

/**
 * Sockets that send by a schedule: requests, or news for subscribers. Each message carries the time when it was due, and
 * the time that it took is counted from then.
 */
final class SocketsOnTime extends SocketTraffic {

    private final NettyTransport transport;
    private final LatencyRecorder latencies;
    private final Schedule schedule;
    private int outstanding;

    SocketsOnTime(Program program, NettyTransport transport, EventLoop loop, Counter messages) {
        super(program, loop, messages);
        this.transport = transport;
        this.latencies = program.latencies();
        this.schedule = program.schedule();
    }

    /** Publishes. */
    @Override
    void send(ZMTPSocket socket, ZMTPMessage message) {
        start(() -> socket.trySend(timed()));
    }

    @Override
    void receive(ZMTPSocket socket) {
        socket.onMessage((from, news) -> {
            record(news);
            messages.add(1);
        });
    }

    @Override
    void ask(ZMTPSocket socket, ZMTPMessage request) {
        start(() -> {
            if (outstanding == arguments.outstanding()) {
                return false;
            }
            outstanding++;
            socket.requestAsync(timed(), PATIENCE).whenComplete(this::answered);
            return true;
        });
    }

    private void answered(ZMTPMessage answer, Throwable failure) {
        if (failure != null) {
            program.fail(failure);
            return;
        }
        outstanding--;
        record(answer);
    }

    private void record(ZMTPMessage message) {
        ByteBuf frame = message.frame(0);
        latencies.record(System.nanoTime() - frame.getLong(frame.readerIndex()));
        message.release();
    }

    private ZMTPMessage timed() {
        int size = arguments.size();
        ByteBuf frame = ByteBufAllocator.DEFAULT.directBuffer(size);
        return ZMTPMessage.from(frame.writeLong(schedule.due()).writeZero(size - Long.BYTES));
    }

    /** No timer of an event loop is as precise as the schedule: the loop stays awake. */
    private void start(BooleanSupplier send) {
        schedule.restart();
        transport.spin(loop, () -> sendWhatIsDue(send));
    }

    private void sendWhatIsDue(BooleanSupplier send) {
        long now = System.nanoTime();
        schedule.begin(now);
        int sent = 0;
        while (schedule.due() <= now && sent < Schedule.BURST && send.getAsBoolean()) {
            if (schedule.isLate(now)) {
                program.late().add(1);
            }
            schedule.next();
            sent++;
        }
        if (arguments.workload().sentByBinding()) {
            messages.add(sent); // requests are counted where they are answered
        }
    }
}
