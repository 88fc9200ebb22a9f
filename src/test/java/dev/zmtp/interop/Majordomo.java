package dev.zmtp.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A broker of services by name, as in RFC 7, but for its heartbeats. */
final class Majordomo {

    static final String CLIENT = "MDPC01";
    static final String WORKER = "MDPW01";
    static final String READY = "\1";
    static final String REPLY = "\3";

    private static final String REQUEST = "\2";

    private static final int HEADER = 2; // after the name and an empty frame
    private static final int ENVELOPE = 2; // of the client in a worker's message

    private final PeerSocket router;
    private final int port;
    private final Map<String, byte[]> workers = new HashMap<>();
    private final Map<String, String> services = new HashMap<>();

    Majordomo(PeerSocket router) {
        this.router = router;
        this.port = router.bind();
    }

    int port() {
        return port;
    }

    /** Takes the next message, and passes it on. */
    void pass() {
        List<byte[]> message = Messages.frames(router.receive());
        String header = text(message.get(HEADER));
        List<byte[]> rest = message.subList(HEADER + 1, message.size());
        if (header.equals(CLIENT)) {
            ask(message.get(0), rest);
        } else if (header.equals(WORKER)) {
            hear(message.get(0), rest);
        } else {
            throw new AssertionError("header: " + header + " (expected: " + CLIENT + " or " + WORKER + ")");
        }
    }

    private void ask(byte[] client, List<byte[]> rest) {
        byte[] worker = workers.get(text(rest.get(0)));
        send(worker, WORKER, REQUEST, join(List.of(client, new byte[0]), rest.subList(1, rest.size())));
    }

    private void hear(byte[] worker, List<byte[]> rest) {
        String command = text(rest.get(0));
        if (command.equals(READY)) {
            workers.put(text(rest.get(1)), worker);
            services.put(text(worker), text(rest.get(1)));
        } else if (command.equals(REPLY)) {
            send(rest.get(1), CLIENT, services.get(text(worker)), rest.subList(1 + ENVELOPE, rest.size()));
        } else {
            throw new AssertionError("command: " + command + " (expected: READY or REPLY)");
        }
    }

    private void send(byte[] to, String header, String next, List<byte[]> rest) {
        router.send(Messages.of(join(List.of(to, new byte[0], bytes(header), bytes(next)), rest)));
    }

    private static List<byte[]> join(List<byte[]> first, List<byte[]> second) {
        List<byte[]> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] frame) {
        return new String(frame, StandardCharsets.ISO_8859_1);
    }
}
