package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sends and prints at the same time: {@code pair}, {@code channel}, {@code peer}, {@code xpub} and {@code xsub}. */
final class TalkCommand extends SocketCommand {

    /** Maximum number of subscriptions that wait to be printed. */
    private static final int MAX_SUBSCRIPTIONS = 1 << 16;

    /** Subscriptions of an XPUB that wait to be printed. */
    private final BlockingQueue<Received> subscriptions = new LinkedBlockingQueue<>(MAX_SUBSCRIPTIONS);

    /** Whether the command has ended, so that a failure to send no longer matters. Guarded by this. */
    private boolean isOver;

    /** Failure of the thread that sends, which the other thread throws. Guarded by this. */
    private @Nullable Exception failure;

    @Mixin
    private InputOptions input = new InputOptions();

    @Option(
            names = {"-t", "--topic"},
            paramLabel = "TOPIC",
            description = "xsub: subscribes to messages that begin with TOPIC. Without it, all messages come.")
    private List<String> topics = new ArrayList<>();

    TalkCommand(Console console, ZMTPSocketType type) {
        super(console, type);
    }

    @Override
    String description() {
        return "Sends the lines of standard input with a " + type + ", and prints what comes at the same time"
                + (type == ZMTPSocketType.XPUB ? ", which are subscriptions." : ".");
    }

    @Override
    List<String> examples(String name) {
        return List.of(
                "  zmtp " + name + " -b tcp://:5555",
                "  zmtp " + name + " tcp://10.0.0.7:5555",
                "  zmtp " + name + " -D hello -n 1 -w 2s tcp://10.0.0.7:5555");
    }

    @Override
    void check() {
        super.check();
        if (!topics.isEmpty() && type != ZMTPSocketType.XSUB) {
            throw new CliException(ExitCode.USAGE, "--topic: " + type + " (expected: xsub)");
        }
    }

    @Override
    void prepare(ZMTPSocket socket) {
        if (type == ZMTPSocketType.XPUB) {
            socket.onEverySubscription((peer, subscription) -> {
                if (!subscriptions.offer(new Received(peer, frames(subscription)))) {
                    console.complain("too many subscriptions at a time, one is not printed");
                }
            });
        }
    }

    @Override
    void run(ZMTPSocket socket) throws Exception {
        if (type == ZMTPSocketType.XSUB) {
            (topics.isEmpty() ? List.of("") : topics).forEach(socket::subscribe);
        }
        InputOptions.Source source = input.source(console, print.format(), Long.MAX_VALUE);
        Thread receiver = Thread.currentThread();
        Thread sender = new Thread(() -> send(socket, source, receiver), "input");
        sender.setDaemon(true);
        sender.start();
        Exception end = null;
        try {
            for (long i = 0; i < count; i++) {
                Received next = type == ZMTPSocketType.XPUB ? next(subscriptions) : receive(socket);
                print.print(console, next.peer(), next.frames());
            }
            if (input.isBounded()) {
                sender.join();
            }
        } catch (InterruptedException | RuntimeException e) {
            end = e;
        }
        Exception failed = end();
        if (failed != null || end != null) {
            throw failed != null ? failed : end;
        }
    }

    /** Returns the failure to send that has ended the command, or null. Later failures are ignored. */
    private synchronized @Nullable Exception end() {
        isOver = true;
        if (failure != null) {
            Thread.interrupted(); // by the thread that sends, which must not cut the linger time
        }
        return failure;
    }

    private synchronized void fail(Exception e, Thread receiver) {
        if (!isOver) {
            failure = e;
            receiver.interrupt();
        }
    }

    private Received next(BlockingQueue<Received> subscriptions) throws InterruptedException {
        Received next = subscriptions.poll(limit().toNanos(), TimeUnit.NANOSECONDS);
        if (next == null) {
            throw tooLate();
        }
        return next;
    }

    /** Sends the whole input. A failure interrupts the receiver, and ends the command. */
    private void send(ZMTPSocket socket, InputOptions.Source source, Thread receiver) {
        try {
            if (type == ZMTPSocketType.XPUB) {
                socket.whenPeers(1).get(); // earlier messages would be lost
            }
            for (List<byte[]> next = source.next(); next != null; next = source.next()) {
                socket.send(Frames.message(next));
                input.pause();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | IOException | RuntimeException e) {
            fail(e, receiver);
        }
    }

    private static List<byte[]> frames(ZMTPSubscription subscription) {
        return List.of(
                (subscription.isSubscribe() ? "subscribe" : "cancel").getBytes(StandardCharsets.US_ASCII),
                ByteBufUtil.getBytes(subscription.topic()));
    }
}
