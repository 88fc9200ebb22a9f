package dev.zmtp.cli;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** CURVE, PLAIN and TLS. No option contains a secret, because other users can see the arguments of a process. */
final class SecurityOptions {

    /** Environment variable with the password of {@code --user}. */
    static final String PASSWORD = "ZMTP_PASSWORD";

    /** Characters of a public key. */
    private static final int Z85_LENGTH = 40;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "CURVE: own key pair, a file NAME.key_secret. A client without it makes a new key pair.")
    private @Nullable Path key;

    @Option(
            names = "--server-key",
            paramLabel = "KEY",
            description = "CURVE client: public key of the server in Z85, or @FILE.")
    private @Nullable String serverKey;

    @Option(
            names = "--allow",
            paramLabel = "FILE",
            description = "CURVE server: file with the public keys of clients in Z85, one in each line, or NAME.key.")
    private @Nullable Path allow;

    @Option(names = "--allow-any", description = "CURVE server: clients with any key are accepted.")
    private boolean allowAny;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "PLAIN client: user name. The password is read from --password-file or " + PASSWORD + ".")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "PLAIN client: file whose first line is the password.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--users",
            paramLabel = "FILE",
            description = "PLAIN server: file with the users, as NAME:PASSWORD, one in each line.")
    private @Nullable Path users;

    @Option(names = "--tls", description = "Encrypts tcp with TLS. Needed for wss.")
    private boolean tls;

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description =
                    "TLS: trusted certificates in PEM. A client has those of the JVM by default; with this option, a server requires a certificate of its clients.")
    private @Nullable File ca;

    @Option(
            names = "--cert",
            paramLabel = "FILE",
            description = "TLS: own certificate chain in PEM. A server needs it.")
    private @Nullable File certificate;

    @Option(names = "--cert-key", paramLabel = "FILE", description = "TLS: private key of --cert in PEM (PKCS #8).")
    private @Nullable File certificateKey;

    @Option(names = "--insecure", description = "TLS client: certificates are not checked.")
    private boolean insecure;

    /** Sets what the options say. */
    void apply(ZMTPSocketConfig.Builder config, boolean binds, boolean connects) {
        if (isCurve() && (user != null || users != null)) {
            throw usage(
                    (user != null ? "--user" : "--users") + ": PLAIN (expected: either PLAIN or the options of CURVE)");
        }
        if (user != null && users != null) {
            throw usage("--user, --users: both (expected: one of them, for a client or a server of PLAIN)");
        }
        if (user != null && binds) {
            throw usage("--user: for a socket that binds (expected: a client of PLAIN, which connects)");
        }
        if (passwordFile != null && user == null) {
            throw usage("--password-file: without --user");
        }
        if (users != null && connects) {
            throw usage("--users: with an endpoint to connect (expected: a server of PLAIN, which binds)");
        }
        if ((certificate == null) != (certificateKey == null)) {
            throw usage("--cert, --cert-key: one of them (expected: both)");
        }
        if (insecure && ca != null) {
            throw usage("--insecure, --ca: both (expected: one of them)");
        }
        config.codec(this::applyMechanism);
        if (tls) {
            applyTls(config, binds, connects);
        } else if (ca != null || certificate != null || certificateKey != null || insecure) {
            throw usage("--ca, --cert, --cert-key, --insecure: without --tls");
        }
    }

    private static CliException usage(String text) {
        return new CliException(ExitCode.USAGE, text);
    }

    /** Returns whether this side is a CURVE server or client. */
    boolean isCurve() {
        return key != null || serverKey != null || allow != null || allowAny;
    }

    void applyMechanism(ZMTPConfig.Builder codec) {
        if (isCurve()) {
            applyCurve(codec);
        } else if (user != null) {
            codec.mechanism(ZMTPPlain.client(user, password()));
        } else if (users != null) {
            codec.mechanism(ZMTPPlain.server()).authenticator(ZMTPPasswordAuthenticator.of(passwords(users)));
        }
    }

    private void applyCurve(ZMTPConfig.Builder codec) {
        boolean isServer = allow != null || allowAny;
        if (isServer == (serverKey != null)) {
            throw usage("--key: CURVE (expected: --server-key for a client, or --allow or --allow-any for a server)");
        }
        if (serverKey != null) {
            codec.mechanism(ZMTPCurve.client(
                    publicKey("--server-key", serverKey), key == null ? ZMTPCurveKeyPair.generate() : keyPair(key)));
            return;
        }
        if (key == null) {
            throw usage("--allow, --allow-any: without --key, the key pair of this server");
        }
        codec.mechanism(ZMTPCurve.server(keyPair(key)));
        codec.authenticator(
                allow == null ? ZMTPAuthenticator.acceptAll() : ZMTPPublicKeyAuthenticator.of(allowedKeys(allow)));
    }

    private static ZMTPCurveKeyPair keyPair(Path file) {
        try {
            return ZMTPCurveKeyPair.load(file);
        } catch (IOException e) {
            throw CliException.failed("--key " + file + ": " + Main.text(e));
        }
    }

    private static ZMTPCurvePublicKey publicKey(String option, String keyOrFile) {
        try {
            boolean isKey = keyOrFile.length() == Z85_LENGTH; // one in 85 begins with @
            return keyOrFile.startsWith("@") && !isKey
                    ? ZMTPCurvePublicKey.load(Path.of(keyOrFile.substring(1)))
                    : ZMTPCurvePublicKey.of(keyOrFile);
        } catch (IOException | IllegalArgumentException e) {
            throw CliException.failed(option + " " + keyOrFile + ": " + Main.text(e));
        }
    }

    private static List<ZMTPCurvePublicKey> allowedKeys(Path file) {
        List<ZMTPCurvePublicKey> keys = new ArrayList<>();
        try {
            List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            if (lines.stream().anyMatch(line -> line.contains("public-key"))) {
                return List.of(ZMTPCurvePublicKey.load(file));
            }
            for (String line : lines) {
                if (isEntry(line)) {
                    keys.add(ZMTPCurvePublicKey.of(line.strip()));
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            throw CliException.failed("--allow " + file + ": " + Main.text(e));
        }
        return keys;
    }

    /** Returns whether a line of a file is neither empty nor a comment. A key can begin with {@code #}. */
    private static boolean isEntry(String line) {
        return !line.isBlank() && !line.startsWith("# ");
    }

    private String password() {
        if (passwordFile == null) {
            String password = System.getenv(PASSWORD);
            if (password == null) {
                throw usage("--user: no password (expected: --password-file, or the environment variable " + PASSWORD
                        + ")");
            }
            return password;
        }
        try (var lines = Files.lines(passwordFile, StandardCharsets.UTF_8)) {
            return lines.findFirst().orElse("");
        } catch (IOException | java.io.UncheckedIOException e) {
            throw CliException.failed("--password-file " + passwordFile + ": " + Main.text(e));
        }
    }

    private static Map<String, String> passwords(Path file) {
        Map<String, String> passwords = new HashMap<>();
        try {
            int number = 0;
            for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                number++;
                if (isEntry(line)) {
                    int colon = line.indexOf(':');
                    boolean isUser = colon > 0 && colon < line.length() - 1;
                    if (!isUser || passwords.put(line.substring(0, colon), line.substring(colon + 1)) != null) {
                        // The line can contain a secret.
                        throw new IOException(
                                "line " + number + " (expected: NAME:PASSWORD, with another name in each line)");
                    }
                }
            }
            if (passwords.isEmpty()) {
                throw new IOException("no users (expected: lines of NAME:PASSWORD)");
            }
        } catch (IOException e) {
            throw CliException.failed("--users " + file + ": " + Main.text(e));
        }
        return passwords;
    }

    private void applyTls(ZMTPSocketConfig.Builder config, boolean binds, boolean connects) {
        try {
            if (connects) {
                config.tls(clientContext());
            }
            if (binds) {
                config.tls(serverContext());
            }
        } catch (SSLException | IllegalArgumentException e) {
            throw CliException.failed("--tls: " + Main.text(e));
        }
    }

    private SslContext clientContext() throws SSLException {
        SslContextBuilder builder = SslContextBuilder.forClient();
        if (insecure) {
            builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
        } else if (ca != null) {
            builder.trustManager(ca);
        }
        if (certificate != null && certificateKey != null) {
            builder.keyManager(certificate, certificateKey);
        }
        return builder.build();
    }

    private SslContext serverContext() throws SSLException {
        if (certificate == null || certificateKey == null) {
            throw usage("--tls: a server (expected: --cert and --cert-key)");
        }
        SslContextBuilder builder = SslContextBuilder.forServer(certificate, certificateKey);
        return (ca == null ? builder : builder.trustManager(ca).clientAuth(ClientAuth.REQUIRE)).build();
    }
}
