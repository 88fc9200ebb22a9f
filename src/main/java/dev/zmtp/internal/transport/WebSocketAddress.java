package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.RequestPath;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of an endpoint after {@code ws://} or {@code wss://}. It consists of the host and the port of {@code tcp},
 * and a path that can have a query. To connect, the port is 80 or 443 unless another is given. Without a path, the path
 * is {@code /}.
 */
public final class WebSocketAddress implements Transport.Address {

    private static final int PORT = 80;
    private static final int SECURE_PORT = 443;

    private final TcpAddress tcp;
    private final String path;
    private final boolean secure;

    private WebSocketAddress(TcpAddress tcp, String path, boolean secure) {
        this.tcp = tcp;
        this.path = path;
        this.secure = secure;
    }

    static WebSocketAddress parse(String text, boolean bind, boolean secure) {
        String endpoint = (secure ? "wss://" : "ws://") + text;
        int slash = text.indexOf('/');
        String authority = slash < 0 ? text : text.substring(0, slash);
        String path = slash < 0 ? "/" : text.substring(slash);
        if (!RequestPath.isValid(path)) {
            throw TcpAddress.invalid(endpoint, RequestPath.EXPECTED);
        }
        if (bind) {
            return new WebSocketAddress(TcpAddress.toBind(endpoint, authority), path, secure);
        }
        String host = authority.substring(authority.indexOf(';') + 1);
        boolean hasPort = host.lastIndexOf(':') > host.lastIndexOf(']');
        String withPort = hasPort ? authority : authority + ":" + port(secure);
        return new WebSocketAddress(TcpAddress.toConnect(endpoint, withPort), path, secure);
    }

    private static int port(boolean secure) {
        return secure ? SECURE_PORT : PORT;
    }

    @Override
    public TcpAddress tcp() {
        return tcp;
    }

    /** Returns the path, with its query. */
    public String path() {
        return path;
    }

    /** Returns whether the connection is encrypted. */
    public boolean isSecure() {
        return secure;
    }

    /**
     * Returns the host, with the port unless it is the port of the scheme (RFC 6455, section 4.1). The zone of an IPv6
     * address means nothing to the peer (RFC 6874, section 4).
     */
    public String hostHeader() {
        int zone = tcp.host().indexOf('%');
        String name = zone < 0 ? tcp.host() : tcp.host().substring(0, zone);
        String host = name.indexOf(':') < 0 ? name : "[" + name + "]";
        return tcp.port() == port(secure) ? host : host + ":" + tcp.port();
    }

    @Override
    public Asks asks() {
        return tcp.asks();
    }

    @Override
    public List<? extends SocketAddress> resolve() throws IOException {
        return tcp.resolve();
    }

    @Override
    public @Nullable SocketAddress source() {
        return tcp.source();
    }

    @Override
    public String boundTo(SocketAddress local) {
        return tcp.boundTo(local) + path;
    }

    @Override
    public String toString() {
        return tcp + path;
    }
}
