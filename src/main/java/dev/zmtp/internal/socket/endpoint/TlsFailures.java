package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of TLS failures. A peer whose certificate has expired does not recover by itself, and must not be treated
 * like a server that restarts. Refers to Netty's classes by name, because they are optional.
 */
final class TlsFailures {

    private static final int MOST_CAUSES = 16;

    /** Alerts by which a peer refuses our certificate, in the wording of the JDK and OpenSSL. */
    private static final List<String> REFUSALS = List.of("certificate", "unknown_ca", "unknown ca", "access_denied");

    /** Alerts that say nothing about this side, in the wording of both. OpenSSL has spaces, and another spelling. */
    private static final List<String> PASSING = List.of("internal_error", "bad_record_mac", "user_cancel");

    private TlsFailures() {}

    /**
     * Returns the kind of the failure; null if it is not a TLS failure, just the end of a connection, or can pass by
     * itself.
     */
    static @Nullable FailureKind kindOf(Throwable cause) {
        SSLException tls = tls(cause);
        if (tls == null) {
            return null;
        }
        String text = String.valueOf(tls.getMessage()).toLowerCase(Locale.ROOT);
        if (isAboutCertificate(tls) || REFUSALS.stream().anyMatch(text::contains)) {
            return FailureKind.REJECTED;
        }
        String type = tls.getClass().getSimpleName();
        if (type.equals("NotSslRecordException")) {
            return FailureKind.NOT_ZMTP;
        }
        boolean isAlert = text.contains("alert");
        String words = text.replace(' ', '_');
        if (isAlert && PASSING.stream().anyMatch(words::contains)) {
            return null;
        }
        boolean disagree = tls.getClass() == SSLHandshakeException.class || type.equals("OpenSslHandshakeException");
        return disagree || isAlert ? FailureKind.INCOMPATIBLE : null;
    }

    /** Returns the failure and its causes, the first cause last. */
    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES);
    }

    private static @Nullable SSLException tls(Throwable failure) {
        return (SSLException) causes(failure)
                .filter(SSLException.class::isInstance)
                .findFirst()
                .orElse(null);
    }

    private static boolean isAboutCertificate(SSLException tls) {
        return causes(tls)
                .anyMatch(cause -> cause instanceof CertificateException
                        || cause instanceof CertPathValidatorException
                        || cause instanceof CertPathBuilderException
                        || cause instanceof SSLPeerUnverifiedException);
    }

    /**
     * Returns the message of TLS and of the first cause, which contains a date or a name; null if it is not a TLS
     * failure.
     */
    static @Nullable String text(Throwable cause) {
        SSLException tls = kindOf(cause) == null ? null : tls(cause);
        if (tls == null) {
            return null;
        }
        Throwable first = causes(tls).reduce(tls, (before, next) -> next);
        String text = "TLS: " + dates(first) + tls.getMessage();
        String why = first.getMessage();
        return why == null || text.contains(why) ? text : text + " (" + why + ")";
    }

    private static String dates(Throwable cause) {
        if (cause instanceof CertificateExpiredException) {
            return "a certificate has expired: ";
        }
        return cause instanceof CertificateNotYetValidException ? "a certificate is not valid yet: " : "";
    }
}
