package dev.zmtp.interop;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/** What Netty calls an address, and ZeroMQ an endpoint. */
final class Endpoints {

    private Endpoints() {}

    /** Returns the address of a port on the loopback interface. */
    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Returns the endpoint of {@code address}, whose port, if it has one, may be 0 for any. */
    static String of(SocketAddress address) {
        if (address instanceof InetSocketAddress tcp) {
            return "tcp://127.0.0.1:" + (tcp.getPort() == 0 ? "*" : tcp.getPort());
        }
        if (address instanceof UnixDomainSocketAddress unix) {
            return "ipc://" + unix.getPath();
        }
        return "ipc://" + ((DomainSocketAddress) address).path().replace('\0', '@'); // the name of an abstract one
    }

    /** Returns the address of a socket that was to be bound to {@code address} and is bound to {@code endpoint}. */
    static SocketAddress bound(SocketAddress address, String endpoint) {
        return address instanceof InetSocketAddress ? loopback(port(endpoint)) : address;
    }

    /** Returns the port of an endpoint over TCP. */
    static int port(String endpoint) {
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }
}
