package dev.zmtp.interop;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** A mechanism with authentication, and how to configure it for our side and for another implementation's socket. */
enum Security {
    /** User names and passwords. */
    PLAIN {
        @Override
        ZMTPConfig.Builder client(ZMTPConfig.Builder config) {
            return config.mechanism(ZMTPPlain.client(USER, PASSWORD));
        }

        @Override
        ZMTPConfig.Builder stranger(ZMTPConfig.Builder config) {
            return config.mechanism(ZMTPPlain.client(USER, "a guess"));
        }

        @Override
        ZMTPConfig.Builder server(ZMTPConfig.Builder config, ZMTPAuthenticator authenticator) {
            return config.mechanism(ZMTPPlain.server()).authenticator(authenticator);
        }

        @Override
        void client(PeerSocket socket) {
            socket.plainClient(USER, PASSWORD);
        }

        @Override
        void stranger(PeerSocket socket) {
            socket.plainClient(USER, "a guess");
        }

        @Override
        void server(PeerSocket socket) {
            socket.plainServer(DOMAIN);
        }

        @Override
        ZMTPAuthenticator authenticator() {
            return ZMTPPasswordAuthenticator.of(Map.of(USER, PASSWORD));
        }

        @Override
        String userId() {
            return USER;
        }

        @Override
        List<String> credentials() {
            return List.of(USER, PASSWORD);
        }
    },
    /** Keys. */
    CURVE {
        @Override
        ZMTPConfig.Builder client(ZMTPConfig.Builder config) {
            return config.mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT));
        }

        @Override
        ZMTPConfig.Builder stranger(ZMTPConfig.Builder config) {
            return config.mechanism(ZMTPCurve.client(SERVER.publicKey(), STRANGER));
        }

        @Override
        ZMTPConfig.Builder server(ZMTPConfig.Builder config, ZMTPAuthenticator authenticator) {
            return config.mechanism(ZMTPCurve.server(SERVER)).authenticator(authenticator);
        }

        @Override
        void client(PeerSocket socket) {
            socket.curveClient(SERVER.publicKey(), CLIENT);
        }

        @Override
        void stranger(PeerSocket socket) {
            socket.curveClient(SERVER.publicKey(), STRANGER);
        }

        @Override
        void server(PeerSocket socket) {
            socket.curveServer(SERVER, DOMAIN);
        }

        @Override
        ZMTPAuthenticator authenticator() {
            return ZMTPPublicKeyAuthenticator.of(List.of(CLIENT.publicKey()));
        }

        @Override
        String userId() {
            return CLIENT.publicKey().z85();
        }

        @Override
        List<String> credentials() {
            return List.of(new String(CLIENT.publicKey().bytes(), StandardCharsets.ISO_8859_1));
        }
    };

    /** What the other side's server calls its services. */
    static final String DOMAIN = "services";

    static final String USER = "admin";
    static final String PASSWORD = "secret";

    static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.generate();
    static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.generate();

    /** A key pair that no side expects. */
    static final ZMTPCurveKeyPair STRANGER = ZMTPCurveKeyPair.generate();

    /** Makes ours the client that {@link #authenticator} knows. */
    abstract ZMTPConfig.Builder client(ZMTPConfig.Builder config);

    /** Makes ours a client that may not come in. */
    abstract ZMTPConfig.Builder stranger(ZMTPConfig.Builder config);

    /** Makes ours the server. */
    abstract ZMTPConfig.Builder server(ZMTPConfig.Builder config, ZMTPAuthenticator authenticator);

    /** Makes theirs the client that {@link #authenticator} knows. */
    abstract void client(PeerSocket socket);

    /** Makes theirs a client that may not come in. */
    abstract void stranger(PeerSocket socket);

    /** Makes theirs the server. */
    abstract void server(PeerSocket socket);

    /** Accepts only the client. */
    abstract ZMTPAuthenticator authenticator();

    /** The client's user ID from {@link #authenticator}. */
    abstract String userId();

    /** What a ZAP handler sees of the client. */
    abstract List<String> credentials();
}
