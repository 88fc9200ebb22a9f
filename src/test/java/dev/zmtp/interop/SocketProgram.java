package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Some sockets of one implementation in a process of their own. A socket that may answer sends back what it receives,
 * one that only receives says what, one that only sends does so all the time, and an XPUB publishes to each topic once
 * it has many.
 */
public final class SocketProgram {

    /** The topics of an XPUB after which it publishes. */
    static final int TOPICS = 5_000;

    /** A frame that is longer is shown by its length. */
    private static final int SHOWN = 64;

    private static final Duration TURN = Duration.ofMillis(100);
    private static final long BETWEEN_NEWS = 5_000_000;

    private final ZMTPSocketType type;
    private final PeerSocket socket;

    private SocketProgram(ZMTPSocketType type, PeerSocket socket) {
        this.type = type;
        this.socket = socket;
    }

    /**
     * Runs until its standard input ends.
     *
     * @param args the {@link SocketPeerKind}, {@code bind} or {@code connect}, and {@code TYPE=endpoint} for each socket
     */
    public static void main(String... args) throws IOException {
        PeerContext context = SocketPeerKind.valueOf(args[0]).open();
        for (String each : List.of(args).subList(2, args.length)) {
            ZMTPSocketType type = ZMTPSocketType.valueOf(each.substring(0, each.indexOf('=')));
            SocketProgram program = new SocketProgram(type, context.socket(type));
            program.begin(args[1].equals("bind"), each.substring(each.indexOf('=') + 1));
        }
        while (System.in.read() >= 0) {
            // it goes on
        }
        Runtime.getRuntime().halt(0);
    }

    private void begin(boolean bind, String endpoint) {
        socket.queues(0, 0);
        if (type == ZMTPSocketType.SUB) {
            socket.subscribe("");
        }
        if (bind) {
            say(socket.bind(endpoint));
        } else {
            socket.connect(endpoint);
        }
        Thread thread = new Thread(this::run, type.name());
        thread.setDaemon(true);
        thread.start();
    }

    private void say(String text) {
        System.out.println(type + " " + text);
    }

    private void run() {
        switch (type) {
            case PUB, PUSH -> publish();
            case PULL, SUB -> print();
            case XPUB -> countTopics();
            default -> echo();
        }
    }

    private void publish() {
        for (int i = 0; true; i++) {
            socket.send(Messages.of("news", Integer.toString(i)), TURN);
            LockSupport.parkNanos(BETWEEN_NEWS);
        }
    }

    private void print() {
        while (true) {
            ZMTPMessage message = socket.receive(TURN);
            if (message != null) {
                say(String.join(
                        " ",
                        Messages.frames(message).stream()
                                .map(SocketProgram::shown)
                                .toList()));
            }
        }
    }

    private static String shown(byte[] frame) {
        return frame.length > SHOWN ? "#" + frame.length : new String(frame, StandardCharsets.UTF_8);
    }

    private void countTopics() {
        Set<String> topics = new LinkedHashSet<>();
        while (true) {
            ZMTPMessage message = socket.receive(TURN);
            if (message != null) {
                topics.add(new String(Messages.frames(message).get(0), StandardCharsets.UTF_8).substring(1));
                if (topics.size() == TOPICS) {
                    say("has " + TOPICS);
                    topics.forEach(topic -> socket.send(Messages.of(topic)));
                    topics.clear();
                }
            }
        }
    }

    private void echo() {
        while (true) {
            ZMTPMessage message = socket.receive(TURN);
            if (message != null) {
                socket.send(message);
            }
        }
    }
}
