package dev.zmtp.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZMTPWebSocketTest {

    @Test
    void settingsAreCopied() {
        ZMTPWebSocket settings = ZMTPWebSocket.DEFAULT
                .origins("https://app.example.com", "http://localhost:8080")
                .header("Authorization", "Bearer abc")
                .bare(true);

        assertThat(ZMTPWebSocket.DEFAULT.origins()).isEmpty();
        assertThat(ZMTPWebSocket.DEFAULT.isAnyOrigin()).isFalse();
        assertThat(settings.origins()).containsExactly("http://localhost:8080", "https://app.example.com");
        assertThat(settings.headers()).containsExactly(Map.entry("Authorization", "Bearer abc"));
        assertThat(settings.isBare()).isTrue();
        assertThat(settings.anyOrigin().isAnyOrigin()).isTrue();
    }

    @Test
    void theTextHasNoValueOfAHeader() {
        assertThat(ZMTPWebSocket.DEFAULT.header("Authorization", "Bearer abc"))
                .hasToString("ZMTPWebSocket{origins=[], headers=[Authorization], bare=false}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "app.example.com",
                "https://app.example.com/",
                "https://App.example.com",
                "https://a:443",
                "http://a:80",
                "*",
                ""
            })
    void anOriginThatNoBrowserSendsIsRefused(String origin) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPWebSocket.DEFAULT.origins(origin))
                .withMessageStartingWith("origin: " + origin + " (expected: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host", "upgrade", "Connection", "Sec-WebSocket-Key", "Transfer-Encoding", "a b", "", "a:"})
    void aHeaderOfTheUpgradeOrWithAWrongNameIsRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPWebSocket.DEFAULT.header(name, "x"))
                .withMessageStartingWith("header: " + name + " (expected: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {" a", "\ta"})
    void theValueOfAHeaderDoesNotBeginWithABlank(String value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPWebSocket.DEFAULT.header("X-Token", value))
                .withMessageStartingWith("header X-Token: ");
    }

    @Test
    void aHeaderCannotEndTheLineAndItsValueIsNotShown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPWebSocket.DEFAULT.header("Authorization", "secret\r\nHost: evil"))
                .withMessageStartingWith("header Authorization: ")
                .withMessageNotContaining("secret");
    }
}
