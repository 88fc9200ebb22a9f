package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.transport.Endpoint;
import io.netty.handler.codec.http.HttpMethod;

/** Tells a user whose class path lacks an optional library which library it is. */
final class WebSocketSupport {

    private WebSocketSupport() {}

    /**
     * Checks that Netty's HTTP codec is there.
     *
     * @throws IllegalStateException if it is not
     */
    static void check(Endpoint endpoint) {
        try {
            HttpMethod.GET.name();
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    endpoint + ": no io.netty.handler.codec.http (expected: io.netty:netty-codec-http)", e);
        }
    }
}
