package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The side that answers or counts. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Answers the messages of perf client and perf pingpong, or counts them, until an interrupt.")
final class PerfServer implements Callable<Integer> {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Console console;

    @Mixin
    private SocketOptions options = new SocketOptions();

    @Option(
            names = "--reply-size",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Length of the answers to perf pingpong, up to 1 MiB. Default: the length of the message.")
    private int replySize;

    @Option(
            names = "--throughput",
            description = "Counts the messages of perf client --throughput, a line each second.")
    private boolean throughput;

    @Option(names = "--busy", description = "The event loop never sleeps, which takes a core.")
    private boolean busy;

    PerfServer(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (replySize < 0 || replySize > TimedBody.MAX_SIZE) {
            throw new CliException(
                    ExitCode.USAGE, "--reply-size: " + replySize + " (expected: 0 to " + TimedBody.MAX_SIZE + ")");
        }
        ZMTPSocketConfig.Builder config = options.config(throughput ? ZMTPSocketType.PULL : ZMTPSocketType.ROUTER);
        if (busy) {
            BusyLoop.use(options, config);
        }
        ZMTPSocket socket = options.open(console, config);
        if (throughput) {
            count(socket);
        }
        ByteBuf reply = replySize == 0
                ? Unpooled.EMPTY_BUFFER
                : Unpooled.directBuffer(replySize).writeZero(replySize);
        Backpressure answers = new Backpressure(socket);
        socket.onMessage((peer, message) -> answer(answers, peer, message, reply));
        new CountDownLatch(1).await();
        return ExitCode.OK;
    }

    private static void answer(Backpressure answers, ZMTPPeer peer, ZMTPMessage message, ByteBuf reply) {
        if (!TimedBody.is(message)) {
            if (reply.isReadable()) {
                message.release();
                answers.answer(peer, ZMTPMessage.from(reply.retainedDuplicate()));
            } else {
                answers.answer(peer, message);
            }
        } else if (TimedBody.wantsAnswer(message)) {
            answers.answer(peer, message);
        } else {
            message.release();
        }
    }

    private void count(ZMTPSocket socket) throws InterruptedException {
        AtomicLong messages = new AtomicLong();
        AtomicLong bytes = new AtomicLong();
        socket.onMessage((peer, message) -> {
            messages.setRelease(messages.getPlain() + 1); // a single event loop
            bytes.setRelease(bytes.getPlain() + message.readableBytes());
            message.release();
        });
        long since = System.nanoTime();
        long counted = 0;
        long length = 0;
        while (true) {
            TimeUnit.NANOSECONDS.sleep(SECOND.toNanos());
            long now = System.nanoTime();
            long more = messages.getAcquire() - counted;
            long moreBytes = bytes.getAcquire() - length;
            if (more > 0) {
                double seconds = (now - since) / 1e9;
                console.printLine(String.format(
                        Locale.ROOT, "%,.0f msg/s, %,.1f MB/s", more / seconds, moreBytes / seconds / 1e6));
            }
            counted += more;
            length += moreBytes;
            since = now;
        }
    }
}
