package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.INCOMPATIBLE;
import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.NOT_ZMTP;
import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.REJECTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TlsFailuresTest {

    private static SSLException expired() {
        SSLException failure = new SSLHandshakeException("validity check failed");
        failure.initCause(new CertificateException("path", new CertificateExpiredException("NotAfter: yesterday")));
        return failure;
    }

    @Test
    void aCertificateThatIsNotAcceptedIsARefusalWhereverItStands() {
        assertThat(TlsFailures.kindOf(expired())).isEqualTo(REJECTED);
        assertThat(TlsFailures.kindOf(new DecoderException(expired()))).isEqualTo(REJECTED);
        assertThat(TlsFailures.kindOf(new SSLPeerUnverifiedException("another host")))
                .isEqualTo(REJECTED);
        assertThat(Backoff.kindOf(new DecoderException(expired()))).isEqualTo(REJECTED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Received fatal alert: certificate_expired",
                "Received fatal alert: bad_certificate",
                "(certificate_required) Received fatal alert: certificate_required",
                "Received fatal alert: unknown_ca",
                "error:10000415:SSL routines:OPENSSL_internal:SSLV3_ALERT_CERTIFICATE_EXPIRED",
                "Received fatal alert: access_denied",
                "Empty client certificate chain"
            })
    void soIsOneThatThePeerDoesNotAccept(String text) {
        assertThat(TlsFailures.kindOf(new SSLHandshakeException(text))).isEqualTo(REJECTED);
        assertThat(TlsFailures.kindOf(new SSLException(text))).isEqualTo(REJECTED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Received fatal alert: protocol_version", "no cipher suites in common"})
    void sidesThatCannotAgreeDoNotFit(String text) {
        assertThat(TlsFailures.kindOf(new SSLHandshakeException(text))).isEqualTo(INCOMPATIBLE);
    }

    /** A server that is starting, or has no memory, says so. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Received fatal alert: internal_error",
                "(user_canceled) Received fatal alert: user_canceled",
                "Received fatal alert: bad_record_mac",
                "error:10000438:SSL routines:OPENSSL_internal:TLSV1_ALERT_INTERNAL_ERROR",
                "error:0A000438:SSL routines::tlsv1 alert internal error",
                "error:1000045a:SSL routines:OPENSSL_internal:TLSV1_ALERT_USER_CANCELLED",
                "error:0A0003FC:SSL routines::ssl/tls alert bad record mac"
            })
    void anAlertThatSaysNothingAboutThisSideMayPass(String text) {
        assertThat(TlsFailures.kindOf(new SSLHandshakeException(text))).isNull();
        assertThat(TlsFailures.kindOf(new SSLException(text))).isNull();
    }

    @Test
    void whatDoesNotSpeakTlsMayBeAFront() {
        assertThat(TlsFailures.kindOf(new NotSslRecordException("not an SSL/TLS record: 48")))
                .isEqualTo(NOT_ZMTP);
    }

    @Test
    void theEndOfAConnectionAndATimeoutAreNoFailuresOfTls() {
        assertThat(TlsFailures.kindOf(new IOException("reset"))).isNull();
        assertThat(TlsFailures.kindOf(new SSLException("closed while a handshake was in progress")))
                .isNull();
        assertThat(TlsFailures.kindOf(new SslHandshakeTimeoutException("not within 10 s")))
                .isNull();
        assertThat(TlsFailures.text(new IOException("reset"))).isNull();
    }

    @Test
    void theTextHasWhatItEndsWith() {
        assertThat(TlsFailures.text(expired()))
                .isEqualTo("TLS: a certificate has expired: validity check failed (NotAfter: yesterday)");
        assertThat(TlsFailures.text(new SSLHandshakeException("no cipher suites in common")))
                .isEqualTo("TLS: no cipher suites in common");
    }
}
