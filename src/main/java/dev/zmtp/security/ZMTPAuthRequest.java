package dev.zmtp.security;

import dev.zmtp.internal.wire.Command;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Facts about a peer that an authenticator must decide about (RFC 27, "The ZAP Request").
 *
 * @param domain the domain of the config, a name for a group of services; by default empty
 * @param peerAddress the peer's address, or null if the channel does not know it; behind a proxy, the address that the
 *     proxy reported
 * @param identity the identity that the peer announced, read-only; empty if there is none, and always with NULL and
 *     PLAIN, which announce it later
 * @param mechanism the name of the mechanism, such as {@link ZMTPCurve#NAME}
 * @param credentials none for NULL; user name and password for PLAIN; the client's public key of 32 bytes for CURVE.
 *     Read-only
 * @param peerCertificates the certificates of an authenticated TLS peer, its own first; otherwise empty
 * @param peerCredentials the process at the other end of a Unix domain socket, over Netty's native transports, or null
 */
public record ZMTPAuthRequest(
        String domain,
        @Nullable SocketAddress peerAddress,
        ByteBuffer identity,
        String mechanism,
        List<ByteBuffer> credentials,
        List<Certificate> peerCertificates,
        @Nullable ZMTPPeerCredentials peerCredentials) {

    /** Stores read-only views of the buffers, not copies. */
    public ZMTPAuthRequest {
        Objects.requireNonNull(domain, "domain");
        Objects.requireNonNull(mechanism, "mechanism");
        identity = identity.asReadOnlyBuffer();
        credentials = credentials.stream().map(ByteBuffer::asReadOnlyBuffer).toList();
        peerCertificates = List.copyOf(peerCertificates);
    }

    /** Returns the identity, read-only. Each call returns a new view with its own position. */
    @Override
    public ByteBuffer identity() {
        return identity.duplicate();
    }

    /** Returns the credentials, read-only. Each call returns new views with their own positions. */
    @Override
    public List<ByteBuffer> credentials() {
        return credentials.stream().map(ByteBuffer::duplicate).toList();
    }

    /** Returns the user name of PLAIN, decoded as UTF-8, or null with another mechanism. */
    public @Nullable String userName() {
        return mechanism.equals(ZMTPPlain.NAME)
                ? StandardCharsets.UTF_8.decode(credentials.get(0).duplicate()).toString()
                : null;
    }

    /** Returns the password of PLAIN, read-only, or null with another mechanism. It is wiped after the decision. */
    public @Nullable ByteBuffer password() {
        return mechanism.equals(ZMTPPlain.NAME) ? credentials.get(1).duplicate() : null;
    }

    /**
     * Returns the client's public key of CURVE, or null with another mechanism. The client has proven that it has the
     * secret key.
     */
    public @Nullable ZMTPCurvePublicKey publicKey() {
        if (!mechanism.equals(ZMTPCurve.NAME)) {
            return null;
        }
        byte[] key = new byte[credentials.get(0).remaining()];
        credentials.get(0).duplicate().get(key);
        return ZMTPCurvePublicKey.of(key);
    }

    /** Returns the request as text, always without the password. */
    @Override
    public String toString() {
        String peer = mechanism;
        if (mechanism.equals(ZMTPPlain.NAME)) {
            peer += " user " + Command.printable(String.valueOf(userName()));
        } else if (mechanism.equals(ZMTPCurve.NAME)) {
            peer += " key " + publicKey();
        }
        return "ZMTPAuthRequest{" + peer + ", domain=" + domain + ", peerAddress=" + peerAddress + ", identity="
                + identity.remaining() + " bytes, peerCertificates=" + peerCertificates.size() + ", peerCredentials="
                + peerCredentials + "}";
    }
}
