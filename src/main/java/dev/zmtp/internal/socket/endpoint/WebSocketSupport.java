package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.handler.codec.http.HttpMethod;

/** Checks before a user binds or connects a {@code ws} endpoint that it can work. */
final class WebSocketSupport {

    private WebSocketSupport() {}

    /**
     * Checks that Netty's HTTP codec is there, and that the settings allow a peer that looks like one of ZMTP 3.0, as
     * those over WebSocket do.
     *
     * @throws IllegalStateException if it is not there
     * @throws IllegalArgumentException if the settings do not
     */
    static void check(Endpoint endpoint, boolean bind, ZMTPSocketConfig config) {
        ZMTPConfig codec = config.codec();
        if (!codec.protocol().hasCommands()) {
            throw wrong(endpoint, "protocol: " + codec.protocol(), "ZMTP30 or ZMTP31");
        }
        if (!codec.interop() && codec.protocol() != ZMTPVersion.ZMTP30) {
            throw wrong(endpoint, "interop: false", "true, because peers over WebSocket speak ZMTP 3.0");
        }
        boolean isBare = !bind && config.webSocket().isBare();
        if (isBare && (codec.mechanism() != ZMTPNull.mechanism() || codec.authenticator() != null)) {
            throw wrong(endpoint, "bare: true", "false with a mechanism or an authenticator");
        }
        if (isBare && !codec.interop()) {
            throw wrong(endpoint, "bare: true", "false without interop");
        }
        if (isBare && codec.socketType().isDraft()) {
            throw wrong(endpoint, "bare: true", "false for a " + codec.socketType());
        }
        checkLibrary(endpoint);
    }

    private static IllegalArgumentException wrong(Endpoint endpoint, String setting, String expected) {
        return new IllegalArgumentException(endpoint + ": " + setting + " (expected: " + expected + ")");
    }

    private static void checkLibrary(Endpoint endpoint) {
        try {
            HttpMethod.GET.name();
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    endpoint + ": no io.netty.handler.codec.http (expected: io.netty:netty-codec-http)", e);
        }
    }
}
