package dev.zmtp.security;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Accepts CURVE peers with known public keys, and denies all others. Thread safe. */
public final class ZMTPPublicKeyAuthenticator implements ZMTPAuthenticator {

    private volatile Map<ZMTPCurvePublicKey, String> userIds;

    private ZMTPPublicKeyAuthenticator(Map<ZMTPCurvePublicKey, String> userIds) {
        this.userIds = Map.copyOf(userIds);
    }

    /** Returns an authenticator that accepts these keys. The user ID of a peer is its key in Z85. */
    public static ZMTPPublicKeyAuthenticator of(Collection<ZMTPCurvePublicKey> keys) {
        return new ZMTPPublicKeyAuthenticator(named(keys));
    }

    /** Returns an authenticator that accepts these keys, each with its user ID. */
    public static ZMTPPublicKeyAuthenticator of(Map<ZMTPCurvePublicKey, String> userIds) {
        return new ZMTPPublicKeyAuthenticator(userIds);
    }

    /** Replaces the accepted keys. Existing connections remain open. */
    public void replace(Collection<ZMTPCurvePublicKey> keys) {
        userIds = named(keys);
    }

    /** Replaces the accepted keys and their user IDs. Existing connections remain open. */
    public void replace(Map<ZMTPCurvePublicKey, String> userIds) {
        this.userIds = Map.copyOf(userIds);
    }

    private static Map<ZMTPCurvePublicKey, String> named(Collection<ZMTPCurvePublicKey> keys) {
        return keys.stream()
                .distinct()
                .collect(Collectors.toUnmodifiableMap(Function.identity(), ZMTPCurvePublicKey::z85));
    }

    @Override
    public CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request) {
        ZMTPCurvePublicKey key = request.publicKey();
        String userId = userId(key);
        return CompletableFuture.completedStage(
                userId == null
                        ? ZMTPAuthDecision.deny(
                                key == null ? "no key, but " + request.mechanism() : "unknown key " + key)
                        : ZMTPAuthDecision.accept(userId));
    }

    private @Nullable String userId(@Nullable ZMTPCurvePublicKey key) {
        return key == null ? null : userIds.get(key);
    }

    /** Returns the number of keys as text. */
    @Override
    public String toString() {
        return "ZMTPPublicKeyAuthenticator{" + userIds.size() + " keys}";
    }
}
