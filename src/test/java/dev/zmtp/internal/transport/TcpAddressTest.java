package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.internal.transport.Transport.Address.Asks;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** T59: the grammar of {@code tcp://}. */
@SuppressWarnings("AddressSelection") // literals, and a name with one address of each family
class TcpAddressTest {

    private static final String TO_BIND = "*, an address, an interface or a host, and a port";
    private static final String TO_CONNECT = "a host and a port";

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:5555, 127.0.0.1, 5555",
        "127.0.0.1:1, 127.0.0.1, 1",
        "127.0.0.1:65535, 127.0.0.1, 65535",
        "[::1]:5555, ::1, 5555",
        "[::ffff:127.0.0.1]:5555, 127.0.0.1, 5555",
        "127.0.0.1:05555, 127.0.0.1, 5555",
    })
    void aLiteralIsAnAddressWithoutAnybodyAsked(String text, String address, int port) throws IOException {
        InetSocketAddress expected = new InetSocketAddress(InetAddress.getByName(address), port);
        assertThat(addresses(TcpAddress.toConnect(text))).containsExactly(expected);
        assertThat(addresses(TcpAddress.toBind(text))).containsExactly(expected);
        assertThat(TcpAddress.toConnect(text).asks()).isEqualTo(Asks.NOTHING);
        assertThat(TcpAddress.toConnect(text)).hasToString(text);
        assertThat(TcpAddress.toConnect(text).port()).isEqualTo(port);
        assertThat(TcpAddress.toConnect(text).source()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"*:*", "*:0"})
    void aStarIsAnyAddressAndAnyPort(String text) throws IOException {
        TcpAddress any = TcpAddress.toBind(text);

        assertThat(addresses(any)).containsExactly(new InetSocketAddress(0));
        assertThat(any.asks()).isEqualTo(Asks.NOTHING);
        assertThat(any.boundTo(new InetSocketAddress("::", 40919))).isEqualTo("0.0.0.0:40919");
        assertThat(any.boundTo(new InetSocketAddress("0.0.0.0", 40919))).isEqualTo("0.0.0.0:40919");
    }

    /** Without it, the address could not be connected to. */
    @Test
    void aLinkLocalAddressKeepsItsZone() throws IOException {
        byte[] address = new byte[16];
        address[0] = (byte) 0xfe;
        address[1] = (byte) 0x80;
        address[15] = 1;
        TcpAddress any = TcpAddress.toBind("[fe80::1%7]:*");

        String numbered = any.boundTo(new InetSocketAddress(Inet6Address.getByAddress(null, address, 7), 80));

        assertThat(numbered).isEqualTo("[fe80::1%7]:80");
        assertThat(TcpAddress.toConnect(numbered)).hasToString(numbered);
        for (NetworkInterface own : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress of : Collections.list(own.getInetAddresses())) {
                boolean has = of instanceof Inet6Address && of.isLinkLocalAddress();
                String text = any.boundTo(new InetSocketAddress(of, 80));
                assertThat(text.contains("%" + own.getName() + "]:80")).as(text).isEqualTo(has);
                assertThat(addresses(TcpAddress.toConnect(text))).containsExactly(new InetSocketAddress(of, 80));
            }
        }
    }

    @Test
    void whatItIsBoundToMayBeConnectedTo() throws UnknownHostException {
        assertThat(TcpAddress.toBind("[::1]:*").boundTo(new InetSocketAddress("::1", 7)))
                .isEqualTo("[::1]:7");
        assertThat(TcpAddress.toBind("[::ffff:127.0.0.1]:*").boundTo(new InetSocketAddress("127.0.0.1", 7)))
                .isEqualTo("127.0.0.1:7");
        assertThat(TcpAddress.toBind("localhost:*")
                        .boundTo(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 7)))
                .isEqualTo("127.0.0.1:7");
    }

    @Test
    void anInterfaceIsItsAddressesTheOldFamilyFirst() throws IOException {
        NetworkInterface loopback = loopback();

        List<SocketAddress> found =
                List.copyOf(TcpAddress.toBind(loopback.getName() + ":5555").resolve());

        assertThat(found)
                .containsExactlyInAnyOrderElementsOf(Collections.list(loopback.getInetAddresses()).stream()
                        .<SocketAddress>map(address -> new InetSocketAddress(address, 5555))
                        .toList());
        assertThat(((InetSocketAddress) found.get(0)).getAddress()).isInstanceOf(Inet4Address.class);
    }

    @Test
    void anInterfaceNeedsNoNameServiceToBeBound() throws IOException {
        String at = loopback().getName() + ":5555";

        assertThat(TcpAddress.toBind(at).asks()).isEqualTo(Asks.NOTHING);
        assertThat(TcpAddress.toConnect(at).asks()).isEqualTo(Asks.NAMES);
        assertThat(TcpAddress.toBind("localhost:5555").asks()).isEqualTo(Asks.NAMES);
    }

    private static NetworkInterface loopback() throws SocketException, UnknownHostException {
        return NetworkInterface.getByInetAddress(InetAddress.getByName("127.0.0.1"));
    }

    @Test
    void aHostIsLookedUp() throws IOException {
        TcpAddress localhost = TcpAddress.toConnect("localhost:5555");

        assertThat(localhost.asks()).isEqualTo(Asks.NAMES);
        assertThat(localhost.host()).isEqualTo("localhost");
        assertThat(addresses(localhost)).contains(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 5555));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:1", "a-b.c_d:1", "9a:1", "xn--bcher-kva.example:1"})
    void theCharactersOfAHost(String text) {
        assertThat(TcpAddress.toConnect(text)).hasToString(text);
        assertThat(TcpAddress.toBind(text)).hasToString(text);
    }

    @Test
    void aZoneBelongsToItsAddress() {
        assertThat(TcpAddress.toConnect("[fe80::1%1]:5555").host()).isEqualTo("fe80::1%1");
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.2:45000;127.0.0.1:5555, 127.0.0.2, 45000",
        "127.0.0.2:*;127.0.0.1:5555, 127.0.0.2, 0",
        "127.0.0.2:0;127.0.0.1:5555, 127.0.0.2, 0",
        "*:45000;127.0.0.1:5555, 0.0.0.0, 45000",
        "[::1]:0;[::1]:5555, ::1, 0",
    })
    void aSourceStandsBeforeTheSemicolon(String text, String address, int port) throws IOException {
        TcpAddress connect = TcpAddress.toConnect(text);

        assertThat(connect.source()).isEqualTo(new InetSocketAddress(InetAddress.getByName(address), port));
        assertThat(connect.port()).isEqualTo(5555);
        assertThat(addresses(connect)).hasSize(1);
        assertThat(connect).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "::1:5555 | an IPv6 address in brackets, as [::1]:5555",
                "[::1]5555 | an IPv6 address in brackets, as [::1]:5555",
                "[::1 | an IPv6 address in brackets, as [::1]:5555",
                "[]:1 | an IPv6 address in the brackets",
                "[127.0.0.1]:1 | an IPv6 address in the brackets",
                "[::1]x:1 | an IPv6 address in brackets, as [::1]:5555",
                "127.0.0.1:65536 | a port from 1 to 65535",
                "127.0.0.1:65537 | a port from 1 to 65535",
                "127.0.0.1:70000 | a port from 1 to 65535",
                "127.0.0.1:99999999999 | a port from 1 to 65535",
                "127.0.0.1:-1 | a port from 1 to 65535",
                "127.0.0.1:+1 | a port from 1 to 65535",
                "127.0.0.1:5999x | a port from 1 to 65535",
                "127.0.0.1:http | a port from 1 to 65535",
                "127.0.0.1: | a port from 1 to 65535",
                "127.0.0.1:0 | a port from 1 to 65535",
                "127.0.0.1:* | a port from 1 to 65535",
                "127.0.0.1:\u0661 | a port from 1 to 65535",
                "*:5555 | " + TO_CONNECT,
                "127.0.0.1 | " + TO_CONNECT,
                ":5555 | " + TO_CONNECT,
                "user@host:5555 | " + TO_CONNECT,
                "host/path:5555 | " + TO_CONNECT,
                "host:5555/path | a port from 1 to 65535",
                "ho st:5555 | " + TO_CONNECT,
                "b\u00fccher.example:5555 | " + TO_CONNECT,
                "-a:5555 | " + TO_CONNECT,
                "localhost:1;127.0.0.1:5555 | an IP address as the source",
                "lo:1;127.0.0.1:5555 | an IP address as the source",
                "127.0.0.1:x;127.0.0.1:5555 | a port from 0 to 65535, or *",
                ";127.0.0.1:5555 | " + TO_BIND,
                "127.0.0.1:1;127.0.0.1:5555;127.0.0.1:6 | an IPv6 address in brackets, as [::1]:5555",
            })
    void whatCannotBeConnectedToIsRefused(String text, String expected) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TcpAddress.toConnect(text))
                .withMessage("endpoint: tcp://" + text + " (expected: " + expected + ")");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "::1:5555 | an IPv6 address in brackets, as [::1]:5555",
                "*:65536 | a port from 0 to 65535, or *",
                "*:-1 | a port from 0 to 65535, or *",
                "*:x | a port from 0 to 65535, or *",
                "*: | a port from 0 to 65535, or *",
                "* | " + TO_BIND,
                ":5555 | " + TO_BIND,
                "127.0.0.1 | " + TO_BIND,
                "a/b:5555 | " + TO_BIND,
                "127.0.0.1:1;127.0.0.1:5555 | an IPv6 address in brackets, as [::1]:5555",
            })
    void whatCannotBeBoundIsRefused(String text, String expected) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TcpAddress.toBind(text))
                .withMessage("endpoint: tcp://" + text + " (expected: " + expected + ")");
    }

    private static List<SocketAddress> addresses(TcpAddress address) throws IOException {
        return List.copyOf(address.resolve());
    }
}
