package dev.zmtp.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;

/** A key with a certificate that it has signed itself, made by the JDK's keytool. */
public final class Certificates {

    private static final String PASSWORD = "changeit";
    private static final String ALIAS = "zmtp";

    private final KeyStore store;

    private Certificates(KeyStore store) {
        this.store = store;
    }

    /** Makes a key for {@code name}, which is in {@code dir} until the test is over. */
    public static Certificates make(Path dir, String name) throws Exception {
        return make(dir, name, "-1d");
    }

    /** As {@link #make(Path, String)}, with a certificate that was good for two days, a week ago. */
    public static Certificates expired(Path dir, String name) throws Exception {
        return make(dir, name, "-9d");
    }

    private static Certificates make(Path dir, String name, String from) throws Exception {
        Path file = dir.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=dns:localhost",
                        "-startdate",
                        from,
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException("keytool: " + said);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return new Certificates(store);
    }

    /** What a side that shows this certificate needs. */
    public KeyManagerFactory keys() throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        return keys;
    }

    /** Writes the certificate in PEM, and returns the file. */
    public Path writeCertificate(Path file) throws Exception {
        return write(file, "CERTIFICATE", certificate().getEncoded());
    }

    /** Writes the private key in PEM, and returns the file. */
    public Path writeKey(Path file) throws Exception {
        return write(
                file, "PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
    }

    private static Path write(Path file, String type, byte[] bytes) throws IOException {
        String lines = Base64.getMimeEncoder().encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n");
    }

    /** What a side that trusts this certificate needs. */
    public X509Certificate certificate() throws Exception {
        return (X509Certificate) store.getCertificate(ALIAS);
    }
}
