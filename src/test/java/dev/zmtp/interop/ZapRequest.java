package dev.zmtp.interop;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A request of another implementation to its ZAP handler (RFC 27).
 *
 * @param domain the domain of the server's socket
 * @param address where the client is
 * @param identity the identity that comes with the request: with libzmq and JeroMQ, the server's own
 * @param mechanism the name of the mechanism
 * @param credentials the client's credentials, with a character for each byte
 */
public record ZapRequest(String domain, String address, String identity, String mechanism, List<String> credentials) {

    private static final String VERSION = "1.0";
    private static final int CREDENTIALS = 6;

    /** The reply of {@code decider} to a request, both without an envelope. */
    static List<byte[]> answer(List<byte[]> request, ZapDecider decider) {
        List<String> frames = request.stream()
                .map(frame -> new String(frame, StandardCharsets.ISO_8859_1))
                .toList();
        if (frames.size() < CREDENTIALS || !frames.get(0).equals(VERSION)) {
            throw new AssertionError("ZAP request: " + frames + " (expected: version 1.0 and at least 6 frames)");
        }
        ZapReply reply = decider.decide(new ZapRequest(
                frames.get(2),
                frames.get(3),
                frames.get(4),
                frames.get(5),
                frames.subList(CREDENTIALS, frames.size())));
        return List.of(
                bytes(VERSION),
                request.get(1),
                bytes(String.valueOf(reply.status())),
                bytes("why"),
                bytes(reply.userId()),
                bytes(""));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
