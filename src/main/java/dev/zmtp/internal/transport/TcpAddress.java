package dev.zmtp.internal.transport;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part of an endpoint after {@code tcp://}. To bind, it is {@code *}, an address, an interface or a host, and a
 * port, where {@code *} and 0 mean any. To connect, it is a host and a port. The address and the port to connect from
 * can precede them, separated by a {@code ;}.
 */
public final class TcpAddress implements Transport.Address {

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]*)");
    private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

    private final String text;
    private final String host;
    private final int port;
    private final boolean bind;
    private final @Nullable InetSocketAddress source;

    private TcpAddress(String text, String host, int port, boolean bind, @Nullable InetSocketAddress source) {
        this.text = text;
        this.host = host;
        this.port = port;
        this.bind = bind;
        this.source = source;
    }

    static TcpAddress toBind(String text) {
        return toBind("tcp://" + text, text);
    }

    static TcpAddress toConnect(String text) {
        return toConnect("tcp://" + text, text);
    }

    /** @param endpoint what the user has written, for an error */
    static TcpAddress toBind(String endpoint, String text) {
        return new TcpAddress(text, host(endpoint, text, true), port(endpoint, text, true), true, null);
    }

    /** @param endpoint what the user has written, for an error */
    static TcpAddress toConnect(String endpoint, String text) {
        int semicolon = text.indexOf(';');
        String to = text.substring(semicolon + 1);
        InetSocketAddress source = semicolon < 0 ? null : source(endpoint, text.substring(0, semicolon));
        return new TcpAddress(text, host(endpoint, to, false), port(endpoint, to, false), false, source);
    }

    private static InetSocketAddress source(String endpoint, String from) {
        String host = host(endpoint, from, true);
        if (!isAny(host) && !isLiteral(host)) {
            throw invalid(endpoint, "an IP address as the source");
        }
        return of(host, port(endpoint, from, true));
    }

    private static InetSocketAddress of(String literal, int port) {
        try {
            return isAny(literal)
                    ? new InetSocketAddress(port)
                    : new InetSocketAddress(InetAddress.getByName(literal), port);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("address: " + literal + " (expected: an IP address)", e);
        }
    }

    private static String host(String endpoint, String part, boolean bind) {
        int colon = part.lastIndexOf(':');
        String host = colon < 0 ? "" : part.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            String inner = host.substring(1, host.length() - 1);
            if (!NetUtil.isValidIpV6Address(inner)) {
                throw invalid(endpoint, "an IPv6 address in the brackets");
            }
            return inner;
        }
        if (host.indexOf(':') >= 0) {
            throw invalid(endpoint, "an IPv6 address in brackets, as [::1]:5555");
        }
        if (isAny(host) ? !bind : !HOST.matcher(host).matches()) {
            throw invalid(endpoint, bind ? "*, an address, an interface or a host, and a port" : "a host and a port");
        }
        return host;
    }

    private static int port(String endpoint, String part, boolean bind) {
        String port = part.substring(part.lastIndexOf(':') + 1);
        if (bind && port.equals("*")) {
            return 0;
        }
        int number = PORT.matcher(port).matches() ? Integer.parseInt(port) : -1;
        if (number < (bind ? 0 : 1) || number > 0xFFFF) {
            throw invalid(endpoint, bind ? "a port from 0 to 65535, or *" : "a port from 1 to 65535");
        }
        return number;
    }

    static IllegalArgumentException invalid(String endpoint, String expected) {
        return new IllegalArgumentException("endpoint: " + endpoint + " (expected: " + expected + ")");
    }

    private static boolean isAny(String host) {
        return host.equals("*");
    }

    private static boolean isLiteral(String host) {
        return NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host);
    }

    /** Returns the host that a certificate has to be for. */
    public String host() {
        return host;
    }

    public int port() {
        return port;
    }

    @Override
    public TcpAddress tcp() {
        return this;
    }

    @Override
    public Asks asks() {
        return isAny(host) || isLiteral(host) || namesInterface() ? Asks.NOTHING : Asks.NAMES;
    }

    /**
     * Returns whether it names an interface to bind to. The kernel has this information, so the check takes no longer
     * than the bind itself.
     */
    private boolean namesInterface() {
        try {
            return bind && NetworkInterface.getByName(host) != null;
        } catch (SocketException e) {
            return false; // the resolution reports the reason
        }
    }

    @Override
    public List<? extends SocketAddress> resolve() throws IOException {
        if (isAny(host) || isLiteral(host)) {
            return List.of(of(host, port));
        }
        NetworkInterface named = bind ? NetworkInterface.getByName(host) : null;
        List<InetAddress> addresses = named == null
                ? Arrays.asList(InetAddress.getAllByName(host))
                : Collections.list(named.getInetAddresses()).stream()
                        .sorted(Comparator.comparing(address -> !(address instanceof Inet4Address)))
                        .toList();
        return addresses.stream()
                .map(address -> new InetSocketAddress(address, port))
                .toList();
    }

    @Override
    public @Nullable SocketAddress source() {
        return source;
    }

    @Override
    public String boundTo(SocketAddress local) {
        InetSocketAddress bound = (InetSocketAddress) local;
        return (isAny(host) ? "0.0.0.0" : literal(bound.getAddress())) + ":" + bound.getPort();
    }

    private static String literal(InetAddress address) {
        String literal = NetUtil.toAddressString(address);
        return address instanceof Inet6Address six ? "[" + literal + zone(six) + "]" : literal;
    }

    /** Returns the interface of a link-local address, which is incomplete without it. */
    private static String zone(Inet6Address address) {
        if (!address.isLinkLocalAddress() || address.getScopeId() == 0) {
            return "";
        }
        NetworkInterface named = address.getScopedInterface();
        return "%" + (named == null ? String.valueOf(address.getScopeId()) : named.getName());
    }

    @Override
    public String toString() {
        return text;
    }
}
