package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPException.Code.CLOSED;
import static dev.zmtp.ZMTPException.Code.MECHANISM;
import static dev.zmtp.ZMTPException.Code.PEER_ERROR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import dev.zmtp.testing.CapturedLog;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a connector says about its failures. */
class ConnectLogTest {

    private final CapturedLog captured = new CapturedLog("dev.zmtp.socket.ConnectLog");
    private final ConnectLog log = new ConnectLog("tcp://h:5555");
    private final IOException refused = new IOException("Connection refused");

    @AfterEach
    void close() {
        captured.close();
    }

    private List<String> said(Level level) {
        return captured.records.stream()
                .filter(line -> line.getLevel().equals(level))
                .map(line -> line.getMessage())
                .toList();
    }

    @Test
    void theFirstFailureIsAWarningAndItsRepetitionsAreNot() {
        log.failed(FailureKind.TRANSIENT, refused, true);
        log.failed(FailureKind.TRANSIENT, refused, true);
        log.failed(FailureKind.TRANSIENT, refused, true);

        assertThat(said(Level.WARNING)).containsExactly("tcp://h:5555: Connection refused, trying again");
        assertThat(said(Level.FINE)).hasSize(2);
    }

    @Test
    void eachNewKindIsAWarning() {
        log.failed(FailureKind.TRANSIENT, refused, true);
        log.failed(FailureKind.INCOMPATIBLE, new IOException("peer is a PUB"), true);
        log.failed(FailureKind.REJECTED, new IOException("400"), false);

        assertThat(said(Level.WARNING))
                .containsExactly(
                        "tcp://h:5555: Connection refused, trying again",
                        "tcp://h:5555: peer is a PUB, trying again",
                        "tcp://h:5555: 400, given up");
    }

    @Test
    void whatMostlyLiesBehindARefusalIsGuessed() {
        log.failed(FailureKind.TRANSIENT, new ZMTPException(CLOSED, "ended in phase mechanism CURVE"), true);
        log.failed(FailureKind.REJECTED, new ZMTPException(PEER_ERROR, "refused by the peer: 400"), true);

        assertThat(said(Level.WARNING))
                .containsExactly(
                        "tcp://h:5555: ended in phase mechanism CURVE"
                                + " (wrong server key, or a key that is not allowed?), trying again",
                        "tcp://h:5555: refused by the peer: 400 (wrong password, or not allowed?), trying again");
    }

    @Test
    void nothingIsGuessedAboutOtherFailures() {
        log.failed(FailureKind.TRANSIENT, new ZMTPException(CLOSED, "in phase mechanism PLAIN"), true);
        log.failed(FailureKind.REJECTED, new ZMTPException(PEER_ERROR, "refused by the peer: 500"), true);
        log.failed(FailureKind.INCOMPATIBLE, new ZMTPException(MECHANISM, "not mechanism CURVE: 400"), true);
        log.failed(FailureKind.TRANSIENT, new IOException("mechanism CURVE: 400"), true);

        assertThat(said(Level.WARNING)).hasSize(4).noneMatch(line -> line.contains("?"));
    }

    @Test
    void aFailureWithoutAMessageIsCalledByItsClass() {
        log.failed(FailureKind.TRANSIENT, new IOException(), true);

        assertThat(said(Level.WARNING)).containsExactly("tcp://h:5555: IOException, trying again");
    }

    @Test
    void aConnectionAfterAFailureIsSaidAndTheNextFailureIsAWarningAgain() {
        log.up();
        log.failed(FailureKind.TRANSIENT, new ClosedChannelException(), true);
        log.up();
        log.up();
        log.failed(FailureKind.TRANSIENT, refused, true);

        assertThat(said(Level.INFO)).containsExactly("tcp://h:5555: connected");
        assertThat(said(Level.WARNING))
                .containsExactly(
                        "tcp://h:5555: closed by the peer, trying again",
                        "tcp://h:5555: Connection refused, trying again");
    }
}
