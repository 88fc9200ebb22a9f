package dev.zmtp.websocket;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Settings of {@code ws} and {@code wss} endpoints, and of {@link ZMTPWebSocketUpgrade}. Immutable: each method returns
 * a changed copy.
 *
 * <pre>{@code
 *   ZMTPSocketConfig.builder(PUB).webSocket(ZMTPWebSocket.DEFAULT.origins("https://app.example.com"))
 * }</pre>
 */
public final class ZMTPWebSocket {

    /** Settings that allow no origin, add no header, and offer a mechanism. */
    public static final ZMTPWebSocket DEFAULT = new ZMTPWebSocket(Set.of(), false, List.of(), false);

    /** Scheme, host and port, as browsers send them (RFC 6454, section 6.2). */
    private static final Pattern ORIGIN = Pattern.compile("[a-z][a-z0-9+.-]*://[^/\\s\\p{Upper}]+|null");

    /** A token of RFC 9110, section 5.6.2. */
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private static final Pattern VALUE = Pattern.compile("([!-~\\x80-\\xff][\\t -~\\x80-\\xff]*)?");

    private static final Pattern OF_UPGRADE = Pattern.compile(
            "host|upgrade|connection|keep-alive|sec-websocket-.*|content-length|transfer-encoding|trailer|te|expect");

    private final Set<String> origins;
    private final boolean anyOrigin;
    private final List<Map.Entry<String, String>> headers;
    private final boolean bare;

    private ZMTPWebSocket(
            Set<String> origins, boolean anyOrigin, List<Map.Entry<String, String>> headers, boolean bare) {
        this.origins = origins;
        this.anyOrigin = anyOrigin;
        this.headers = headers;
        this.bare = bare;
    }

    /**
     * Allows browsers to connect from pages of these origins, and of no others. By default, a request with an
     * {@code Origin} header is refused with 403. Otherwise, a page of any site could connect from within the visitor's
     * network. Requests without this header, such as those of other programs, are allowed.
     *
     * @param allowed origins as browsers send them, such as {@code https://app.example.com} or
     *     {@code http://localhost:8080}
     */
    public ZMTPWebSocket origins(String... allowed) {
        for (String origin : allowed) {
            boolean hasDefaultPort = origin.matches("http://.*:80|https://.*:443"); // which browsers leave out
            if (!ORIGIN.matcher(origin).matches() || hasDefaultPort) {
                throw new IllegalArgumentException("origin: " + origin
                        + " (expected: a scheme and a host in lower case, and a port unless it is the default port)");
            }
        }
        Set<String> copy = Collections.unmodifiableSet(new TreeSet<>(List.of(allowed)));
        return new ZMTPWebSocket(copy, false, headers, bare);
    }

    /** Allows browsers to connect from any page. */
    public ZMTPWebSocket anyOrigin() {
        return new ZMTPWebSocket(origins, true, headers, bare);
    }

    /**
     * Adds a header to the requests of a client, such as a token for a gateway.
     *
     * @throws IllegalArgumentException if the name or the value is not allowed in HTTP, or belongs to the upgrade
     */
    public ZMTPWebSocket header(String name, String value) {
        Objects.requireNonNull(value, "value");
        if (!NAME.matcher(name).matches()
                || OF_UPGRADE.matcher(name.toLowerCase(Locale.ROOT)).matches()) {
            throw new IllegalArgumentException(
                    "header: " + name + " (expected: a name of HTTP that does not belong to the upgrade)");
        }
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException("header " + name + ": a control character or none of Latin-1"
                    + " (expected: a value that HTTP allows)"); // which can be a secret
        }
        List<Map.Entry<String, String>> all = new ArrayList<>(headers);
        all.add(Map.entry(name, value));
        return new ZMTPWebSocket(origins, anyOrigin, List.copyOf(all), bare);
    }

    /**
     * Sets whether a client offers the sub-protocol without a mechanism only, as servers of jszmq need. Such a peer
     * announces neither its socket type nor its identity, and answers no heartbeats. Default: false.
     */
    public ZMTPWebSocket bare(boolean only) {
        return new ZMTPWebSocket(origins, anyOrigin, headers, only);
    }

    /** Origins whose pages can connect. Default: none. */
    public Set<String> origins() {
        return origins;
    }

    /** Whether pages of all origins can connect. Default: false. */
    public boolean isAnyOrigin() {
        return anyOrigin;
    }

    /** Additional headers of a client's request, in their order. Default: none. */
    public List<Map.Entry<String, String>> headers() {
        return headers;
    }

    /** Whether a client offers the sub-protocol without a mechanism only. Default: false. */
    public boolean isBare() {
        return bare;
    }

    /** Returns the settings without the values of headers, which can be secrets. */
    @Override
    public String toString() {
        return "ZMTPWebSocket{origins=" + (anyOrigin ? "any" : origins) + ", headers="
                + headers.stream().map(Map.Entry::getKey).toList() + ", bare=" + bare + "}";
    }
}
