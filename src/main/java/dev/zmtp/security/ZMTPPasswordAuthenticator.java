package dev.zmtp.security;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Accepts PLAIN peers with the right password, and denies all others. The user ID is the user name.
 *
 * <p>Stores digests of the passwords, and compares them in constant time, including for an unknown user. Thread safe.
 */
public final class ZMTPPasswordAuthenticator implements ZMTPAuthenticator {

    private static final byte[] UNKNOWN_USER = new byte[32];

    private volatile Map<String, byte[]> digests;

    private ZMTPPasswordAuthenticator(Map<String, byte[]> digests) {
        this.digests = digests;
    }

    /** Returns an authenticator that accepts these users with their passwords. */
    public static ZMTPPasswordAuthenticator of(Map<String, String> passwords) {
        return new ZMTPPasswordAuthenticator(digests(passwords));
    }

    /** Replaces the accepted users. Existing connections remain open. */
    public void replace(Map<String, String> passwords) {
        digests = digests(passwords);
    }

    private static Map<String, byte[]> digests(Map<String, String> passwords) {
        return passwords.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey,
                        user -> digest(ByteBuffer.wrap(user.getValue().getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] digest(ByteBuffer password) {
        try {
            // A buffer that may only be read would be copied to an array of the JDK, which nobody wipes.
            byte[] copy = new byte[password.remaining()];
            password.duplicate().get(copy);
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(copy);
            Arrays.fill(copy, (byte) 0);
            return digest;
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every Java platform has it
        }
    }

    @Override
    public CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request) {
        String user = request.userName();
        ByteBuffer password = request.password();
        if (user == null || password == null) {
            return CompletableFuture.completedStage(ZMTPAuthDecision.deny("no password, but " + request.mechanism()));
        }
        byte[] known = digests.get(user);
        boolean equal = MessageDigest.isEqual(digest(password), known == null ? UNKNOWN_USER : known);
        return CompletableFuture.completedStage(
                equal && known != null
                        ? ZMTPAuthDecision.accept(user)
                        : ZMTPAuthDecision.deny("unknown user or wrong password"));
    }

    /** Returns the number of users as text. */
    @Override
    public String toString() {
        return "ZMTPPasswordAuthenticator{" + digests.size() + " users}";
    }
}
