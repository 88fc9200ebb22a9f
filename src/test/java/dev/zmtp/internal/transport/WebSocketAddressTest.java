package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebSocketAddressTest {

    private static final TcpTransport TCP = new TcpTransport(NioSocketChannel::new, NioServerSocketChannel::new);

    private static WebSocketAddress parse(String endpoint, boolean bind) {
        boolean secure = endpoint.startsWith("wss://");
        return (WebSocketAddress)
                new WebSocketTransport(TCP, secure).address(endpoint.substring(endpoint.indexOf("://") + 3), bind);
    }

    @ParameterizedTest
    @CsvSource({
        "ws://example.com, example.com, 80, /, example.com",
        "wss://example.com/feed, example.com, 443, /feed, example.com",
        "ws://example.com:8080/a/b?c=d, example.com, 8080, /a/b?c=d, example.com:8080",
        "ws://example.com:443/, example.com, 443, /, example.com:443",
        "wss://[::1]:9000/x, ::1, 9000, /x, [::1]:9000",
        "ws://[::1], ::1, 80, /, [::1]",
        "ws://[fe80::1%eth0]:8080/x, fe80::1%eth0, 8080, /x, [fe80::1]:8080"
    })
    void aClientHasTheHostThePortAndThePath(String endpoint, String host, int port, String path, String header) {
        WebSocketAddress address = parse(endpoint, false);

        assertThat(address.tcp().host()).isEqualTo(host);
        assertThat(address.tcp().port()).isEqualTo(port);
        assertThat(address.path()).isEqualTo(path);
        assertThat(address.hostHeader()).isEqualTo(header);
    }

    @Test
    void aBoundEndpointHasItsRealPortAndItsPath() {
        WebSocketAddress address = parse("ws://*:*/feed", true);

        assertThat(address.boundTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711)))
                .isEqualTo("0.0.0.0:4711/feed");
        assertThat(address).hasToString("*:*/feed");
    }

    @Test
    void aSourceAddressCanPrecedeTheHost() {
        assertThat(parse("ws://127.0.0.2:0;example.com/x", false).source()).hasToString("/127.0.0.2:0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ws://host:80/a b",
                "ws://host:80/a#b",
                "ws://host:80/\u00e4",
                "ws://:80/",
                "ws://host:0/",
                "wss://host:99999/",
                "ws:///path",
                "ws://*:80/"
            })
    void anythingElseIsRefusedWithItsText(String endpoint) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse(endpoint, false))
                .withMessageStartingWith("endpoint: " + endpoint + " (expected: ");
    }

    @Test
    void anEndpointToBindNeedsAPort() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("ws://*/feed", true))
                .withMessageStartingWith("endpoint: ws://*/feed (expected: ");
    }
}
