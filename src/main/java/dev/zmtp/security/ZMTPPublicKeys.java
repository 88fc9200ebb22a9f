package dev.zmtp.security;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Accepts CURVE peers with known public keys, and denies all others. Thread safe. */
public final class ZMTPPublicKeys implements ZMTPAuthenticator {

    private volatile Map<ZMTPCurvePublicKey, String> userIds;

    private ZMTPPublicKeys(Map<ZMTPCurvePublicKey, String> userIds) {
        this.userIds = Map.copyOf(userIds);
    }

    /** Returns an authenticator that accepts these keys. The user ID of a peer is its key in Z85. */
    public static ZMTPPublicKeys of(Collection<ZMTPCurvePublicKey> keys) {
        return new ZMTPPublicKeys(named(keys));
    }

    /** Returns an authenticator that accepts these keys, each with its user ID. */
    public static ZMTPPublicKeys of(Map<ZMTPCurvePublicKey, String> userIds) {
        return new ZMTPPublicKeys(userIds);
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
    public CompletionStage<ZMTPDecision> authenticate(ZMTPAuthRequest request) {
        ZMTPCurvePublicKey key = request.publicKey();
        String userId = userId(key);
        return CompletableFuture.completedStage(
                userId == null
                        ? ZMTPDecision.deny(key == null ? "no key, but " + request.mechanism() : "unknown key " + key)
                        : ZMTPDecision.accept(userId));
    }

    private @Nullable String userId(@Nullable ZMTPCurvePublicKey key) {
        return key == null ? null : userIds.get(key);
    }

    /** Returns the number of keys as text. */
    @Override
    public String toString() {
        return "ZMTPPublicKeys{" + userIds.size() + " keys}";
    }
}
