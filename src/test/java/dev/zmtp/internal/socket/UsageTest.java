package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SERVER;
import static dev.zmtp.internal.socket.TestSockets.bind;
import static dev.zmtp.internal.socket.TestSockets.connect;
import static dev.zmtp.internal.socket.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is refused before anything happens, as it fits no socket or not this one. */
class UsageTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    void aMessageHasAFrame() {
        ZMTPSocket push = sockets.open(PUSH);
        assertThatThrownBy(() -> push.trySend(ZMTPMessage.from(List.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("frames: 0 (expected: from 1 to ");
    }

    @Test
    void aRequestHasAFrame() {
        ZMTPSocket dealer = sockets.open(DEALER);
        assertThatThrownBy(() -> dealer.requestAsync(ZMTPMessage.from(List.of()), TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("frames: 0 (expected: from 1 to ");
    }

    @Test
    void aMessageToAPeerHasNoMoreFramesThanItsTypeAllows() {
        ZMTPSocket server = sockets.open(SERVER);
        connect(sockets.open(CLIENT), bind(server, "inproc://frames"));
        ZMTPPeer client = TestSockets.peer(server);
        ZMTPMessage message = message("a", "b");
        assertThatThrownBy(() -> client.sendAsync(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("frames: 2 (expected: 1)");
        assertThat(message.refCnt()).isZero();
    }

    @Test
    void onlyTypesWithTopicsOrGroupsSubscribe() {
        ZMTPSocket push = sockets.open(PUSH);
        assertThatThrownBy(() -> push.subscribe("news"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("subscribe: not with PUSH (expected: SUB, XSUB or DISH)");
        assertThatThrownBy(() -> push.unsubscribe("news"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("unsubscribe: not with PUSH (expected: SUB, XSUB or DISH)");
    }

    @Test
    void aReleasedMessageIsRefusedForTheFirstReason() {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPMessage released = message("released");
        released.release();
        assertThatThrownBy(() -> pull.sendAsync(released))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageStartingWith("sendAsync: not with PULL");
    }
}
