package dev.zmtp.internal.websocket;

import dev.zmtp.testing.Hex;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** A line of {@code wire/zws.txt}: a WebSocket frame of a side, and the ZMTP frame for it. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ZwsVector(String name, WebSocketRole sender, boolean bare, byte[] frame, byte[] zmtp) {

    /** The key of the clients in the table. */
    static final int KEY = 0x37fa213d;

    static List<ZwsVector> all() {
        try (InputStream in = ZwsVector.class.getResourceAsStream("/wire/zws.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(ZwsVector::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The frames of the vector with this name. */
    static byte[] frame(String name) {
        return all().stream()
                .filter(vector -> vector.name.equals(name))
                .findFirst()
                .orElseThrow()
                .frame();
    }

    private static ZwsVector of(String line) {
        List<String> columns =
                Arrays.stream(line.split("\\|")).map(String::trim).toList();
        WebSocketRole sender = columns.get(1).startsWith("client") ? WebSocketRole.CLIENT : WebSocketRole.SERVER;
        return new ZwsVector(
                columns.get(0),
                sender,
                columns.get(1).endsWith("bare"),
                Hex.bytes(columns.get(2)),
                Hex.bytes(columns.get(3)));
    }

    WebSocketRole receiver() {
        return sender == WebSocketRole.CLIENT ? WebSocketRole.SERVER : WebSocketRole.CLIENT;
    }

    /** PLAIN, because a peer with NULL must begin with a command. */
    ZwsProtocol protocol() {
        return bare ? ZwsProtocol.BARE : new ZwsProtocol("PLAIN");
    }

    /** Where to cut {@code bytes} in two: everywhere, or of many bytes within their header and at the end. */
    static int[] cuts(byte[] bytes) {
        int edge = bytes.length < 1000 ? bytes.length : 14;
        return IntStream.rangeClosed(0, bytes.length)
                .filter(at -> at < edge || at > bytes.length - 3)
                .toArray();
    }

    @Override
    public String toString() {
        return name;
    }
}
