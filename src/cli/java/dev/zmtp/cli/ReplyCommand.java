package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Answers requests: {@code rep}, {@code router} and {@code server}. */
final class ReplyCommand extends SocketCommand {

    /** Maximum time to wait for room in the queue of a client. Other clients wait for as long. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(1);

    @Mixin
    private InputOptions input = new InputOptions();

    @Option(names = "--echo", description = "Answers each request with the request.")
    private boolean echo;

    @Option(
            names = "--to",
            paramLabel = "ID",
            converter = RoutingId.Converter.class,
            description = "router: sends the input to the peer with this routing id, and answers nothing.")
    private @Nullable RoutingId to;

    /** Clients that had no room for an answer in time. */
    private final Set<ZMTPPeer> deaf = new HashSet<>();

    ReplyCommand(Console console, ZMTPSocketType type) {
        super(console, type);
    }

    @Override
    String description() {
        return "Prints the requests that a " + type
                + " receives, and answers each with a line of standard input, with -D," + " or with --echo.";
    }

    @Override
    List<String> examples(String name) {
        return List.of(
                "  zmtp " + name + " -b tcp://:5555 --echo",
                "  zmtp " + name + " -b tcp://:5555 -D pong -n 1",
                "  zmtp " + name + " -b tcp://:5555 -f json < answers.json");
    }

    @Override
    void check() {
        super.check();
        if (echo && input.isGiven()) {
            throw new CliException(ExitCode.USAGE, "--echo, and --data or --file (expected: one of them)");
        }
        if (to != null && to.bytes().length == 0) {
            throw new CliException(ExitCode.USAGE, "--to: an empty text (expected: the routing id of a peer)");
        }
        if (to != null && (echo || type != ZMTPSocketType.ROUTER)) {
            throw new CliException(
                    ExitCode.USAGE, "--to: " + (echo ? "with --echo" : type) + " (expected: router, without --echo)");
        }
    }

    @Override
    void run(ZMTPSocket socket) throws Exception {
        if (to != null) {
            InputOptions.Source source = input.source(console, print.format(), count);
            ZMTPPeer peer = find(socket, ByteBuffer.wrap(to.bytes()));
            input.forEach(source, count, next -> peer.send(Frames.message(next), limit()));
            return;
        }
        InputOptions.Source answers = echo ? null : input.source(console, print.format(), Long.MAX_VALUE);
        List<byte[]> fixed = input.isFixed() ? input.fixed() : null;
        for (long i = 0; i < count; i++) {
            Received request = receive(socket);
            List<byte[]> all = request.frames();
            int head = headOf(all);
            List<byte[]> body = all.subList(head, all.size());
            print.print(console, request.peer(), body);
            List<byte[]> answer = answers == null ? body : fixed == null ? answers.next() : fixed;
            if (answer == null) {
                throw CliException.failed("no line of the input is left to answer with");
            }
            List<byte[]> whole = new ArrayList<>(all.subList(0, head));
            whole.addAll(answer);
            answer(socket, request.peer(), whole);
        }
    }

    /** Sends an answer. A client that has left, or does not read, must not end the service of other clients. */
    private void answer(ZMTPSocket socket, @Nullable ZMTPPeer requester, List<byte[]> frames)
            throws InterruptedException {
        try {
            if (requester == null) {
                socket.send(Frames.message(frames));
            } else if (deaf.contains(requester)) {
                answerDeaf(requester, Frames.message(frames));
            } else {
                requester.send(Frames.message(frames), ANSWER_LIMIT);
            }
        } catch (ZMTPSocketException e) {
            switch (e.reason()) {
                case PEER_DOWN, UNROUTABLE, FULL, TIMEOUT ->
                    console.complain("an answer was not sent: " + Main.text(e));
                default -> throw e;
            }
            if (requester != null && e.reason() == ZMTPSocketException.Reason.TIMEOUT) {
                deaf.retainAll(socket.peers());
                deaf.add(requester);
            }
        }
    }

    /** Sends an answer without a wait, because the client has let others wait before. */
    private void answerDeaf(ZMTPPeer requester, ZMTPMessage message) {
        if (!requester.trySend(message)) {
            message.release();
            console.complain("an answer was not sent: " + requester + " does not read");
        }
    }

    private ZMTPPeer find(ZMTPSocket socket, ByteBuffer id) throws InterruptedException, ExecutionException {
        CompletableFuture<ZMTPPeer> found = new CompletableFuture<>();
        socket.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerUp up
                    && id.equals(up.peer().routingId())) {
                found.complete(up.peer());
            }
        });
        ZMTPPeer connected = socket.peer(id);
        if (connected != null) {
            found.complete(connected);
        }
        return SocketOptions.await(found, limit(), "no peer with the routing id of --to");
    }

    /** Returns the number of frames of the envelope, which ends with an empty frame and is returned with the answer. */
    private int headOf(List<byte[]> frames) {
        if (type == ZMTPSocketType.ROUTER) {
            for (int i = 0; i < frames.size(); i++) {
                if (frames.get(i).length == 0) {
                    return i + 1;
                }
            }
        }
        return 0;
    }
}
