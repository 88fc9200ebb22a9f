package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sends and prints at the same time: {@code pair}, {@code channel}, {@code peer}, {@code xpub} and {@code xsub}. */
final class TalkCommand extends SocketCommand {

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
    void run(ZMTPSocket socket) throws Exception {
        if (type == ZMTPSocketType.XSUB) {
            (topics.isEmpty() ? List.of("") : topics).forEach(socket::subscribe);
        }
        Thread sender = new Thread(() -> send(socket), "input");
        sender.setDaemon(true);
        if (type == ZMTPSocketType.XPUB) {
            socket.onEverySubscription((peer, subscription) -> print.print(console, peer, frames(subscription)));
            sender.start();
            sender.join();
            return;
        }
        sender.start();
        for (long i = 0; i < count; i++) {
            Received next = receive(socket);
            print.print(console, next.peer(), next.frames());
        }
    }

    private void send(ZMTPSocket socket) {
        try {
            InputOptions.Source source = input.source(console, print.format(), Long.MAX_VALUE);
            for (List<byte[]> next = source.next(); next != null; next = source.next()) {
                socket.send(Frames.message(next));
                Duration pause = input.interval();
                if (pause != null) {
                    TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            console.complain(Main.text(e));
        }
    }

    private static List<byte[]> frames(ZMTPSubscription subscription) {
        return List.of(
                (subscription.isSubscribe() ? "subscribe" : "cancel").getBytes(StandardCharsets.US_ASCII),
                ByteBufUtil.getBytes(subscription.topic()));
    }
}
