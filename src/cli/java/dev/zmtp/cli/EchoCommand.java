package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A ROUTER that returns each message to its sender, until the program is interrupted. */
@Command(
        name = "echo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Returns each message to the REQ or DEALER that has sent it, until it is interrupted.",
        footerHeading = "%nExamples:%n",
        footer = "  zmtp echo -b tcp://:5555")
final class EchoCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private SocketOptions options = new SocketOptions();

    EchoCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        ZMTPSocket router = options.open(console, ZMTPSocketType.ROUTER);
        router.onMessage(new Backpressure(router)::answer);
        new CountDownLatch(1).await();
        return ExitCode.OK;
    }
}
