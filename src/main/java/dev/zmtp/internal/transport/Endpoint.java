package dev.zmtp.internal.transport;

import java.util.Map;
import java.util.Objects;

/**
 * An endpoint that a socket is bound to or connects to, consisting of a transport and an address in it.
 *
 * @param text the scheme and the address
 */
public record Endpoint(Transport transport, Transport.Address address, String text) {

    public static Endpoint parse(Map<String, Transport> transports, String text, boolean bind) {
        Objects.requireNonNull(text, "endpoint");
        int end = text.indexOf("://");
        if (end <= 0 || end + 3 == text.length()) {
            throw new IllegalArgumentException(
                    "endpoint: " + text + " (expected: a scheme, ://, and an address, as tcp://127.0.0.1:5555)");
        }
        Transport transport = transports.get(text.substring(0, end));
        if (transport == null) {
            throw new IllegalArgumentException("endpoint: " + text + " (expected: one of the schemes "
                    + String.join(", ", transports.keySet()) + ")");
        }
        Transport.Address address = transport.address(text.substring(end + 3), bind);
        return new Endpoint(transport, address, transport.scheme() + "://" + address);
    }

    @Override
    public String toString() {
        return text;
    }
}
