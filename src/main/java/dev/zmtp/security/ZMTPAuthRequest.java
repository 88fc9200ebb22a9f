package dev.zmtp.security;

import dev.zmtp.wire.Command;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who asks to come in (RFC 27, "The ZAP Request").
 *
 * @param domain what the config calls the group of services that it belongs to; by default empty
 * @param remoteAddress the peer's address, if the channel knows it
 * @param identity the identity that the peer announced, read-only; empty if it did not, or, with NULL and PLAIN, not yet
 * @param mechanism the name of the mechanism
 * @param credentials none for NULL; user name and password for PLAIN; the client's public key of 32 octets for CURVE. Read-only
 * @param peerCertificates the certificates of a TLS peer that was authenticated, its own first; empty if there is none
 */
public record ZMTPAuthRequest(
        String domain,
        @Nullable SocketAddress remoteAddress,
        ByteBuffer identity,
        String mechanism,
        List<ByteBuffer> credentials,
        List<Certificate> peerCertificates) {

    /** The name of the mechanism that authenticates nobody. */
    public static final String NULL = "NULL";
    /** The name of the mechanism of user names and passwords. */
    public static final String PLAIN = "PLAIN";
    /** The name of the mechanism of public keys. */
    public static final String CURVE = "CURVE";

    /** Keeps read-only views of the octets. */
    public ZMTPAuthRequest {
        Objects.requireNonNull(domain, "domain");
        Objects.requireNonNull(mechanism, "mechanism");
        identity = identity.asReadOnlyBuffer();
        credentials = credentials.stream().map(ByteBuffer::asReadOnlyBuffer).toList();
        peerCertificates = List.copyOf(peerCertificates);
    }

    /** The identity, read-only and with a position of its own. */
    @Override
    public ByteBuffer identity() {
        return identity.duplicate();
    }

    /** The credentials, read-only and with positions of their own. */
    @Override
    public List<ByteBuffer> credentials() {
        return credentials.stream().map(ByteBuffer::duplicate).toList();
    }

    /** The user name of PLAIN, read as UTF-8; null with another mechanism. */
    public @Nullable String userName() {
        return mechanism.equals(PLAIN)
                ? StandardCharsets.UTF_8.decode(credentials.get(0).duplicate()).toString()
                : null;
    }

    /** The octets of PLAIN's password, read-only, wiped after the decision; null with another mechanism. */
    public @Nullable ByteBuffer password() {
        return mechanism.equals(PLAIN) ? credentials.get(1).duplicate() : null;
    }

    /** The client's public key of CURVE, which it has proven to own; null with another mechanism. */
    public @Nullable ZMTPCurvePublicKey publicKey() {
        if (!mechanism.equals(CURVE)) {
            return null;
        }
        byte[] octets = new byte[credentials.get(0).remaining()];
        credentials.get(0).duplicate().get(octets);
        return ZMTPCurvePublicKey.of(octets);
    }

    /** Shows no password. */
    @Override
    public String toString() {
        String who = mechanism;
        if (mechanism.equals(PLAIN)) {
            who += " user " + Command.printable(String.valueOf(userName()));
        } else if (mechanism.equals(CURVE)) {
            who += " key " + publicKey();
        }
        return "ZMTPAuthRequest{" + who + ", domain=" + domain + ", remoteAddress=" + remoteAddress + ", identity="
                + identity.remaining() + " octets, peerCertificates=" + peerCertificates.size() + "}";
    }
}
