package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * One side of CURVE, with its secrets, which it wipes, and the result of the handshake. See {@link CurveClient} for the
 * letters.
 */
abstract class CurveSide implements ZMTPMechanism {

    final Context context;
    final SecureRandom random;
    /** Null if the key pair was destroyed. The handshake then fails like any other, instead of with the codec. */
    private final byte @Nullable [] longTermSecret;

    final byte[] longTermKey;
    final HandshakeComputation computation;

    byte @Nullable [] transientSecret;
    /** Key of all data after WELCOME, from both transient keys (c' with S', or C' with s'). */
    byte @Nullable [] sessionKey;

    ZMTPMetadata peer = ZMTPMetadata.EMPTY;
    private @Nullable CurveCipher cipher;

    CurveSide(Context context, SecureRandom random, ZMTPCurveKeyPair own) {
        this.context = context;
        this.random = random;
        this.longTermSecret = secretKeyOf(own);
        this.longTermKey = own.publicKey().bytes();
        this.computation = new HandshakeComputation(context, this::wipe);
    }

    private static byte @Nullable [] secretKeyOf(ZMTPCurveKeyPair own) {
        try {
            return own.secretKey();
        } catch (IllegalStateException e) {
            return null;
        }
    }

    /** Returns the secret key, without which no handshake begins. */
    final byte[] longTermSecret() {
        if (longTermSecret == null) {
            throw ZMTPException.of(ZMTPException.Code.CLOSED, "key pair", "destroyed", "in use");
        }
        return longTermSecret;
    }

    @Override
    public final String name() {
        return ZMTPCurve.NAME;
    }

    /** Ends the handshake with the cipher of traffic, and wipes the secrets, none of which the cipher retains. */
    final void succeed(CurveCipher ofTraffic) {
        cipher = ofTraffic;
        wipe();
    }

    @Override
    public final boolean isReady() {
        return cipher != null;
    }

    @Override
    public final ZMTPMetadata peerMetadata() {
        return peer;
    }

    @Override
    public final @Nullable FrameCipher cipher() {
        return cipher;
    }

    @Override
    public final void close() {
        if (cipher != null) {
            cipher.wipe();
        }
        computation.close();
    }

    /** Wipes all secrets of the handshake. Called while no step of the computation runs. */
    private void wipe() {
        CurveBoxes.wipe(longTermSecret);
        CurveBoxes.wipe(transientSecret);
        CurveBoxes.wipe(sessionKey);
        wipeOwnKey();
    }

    /** Wipes the key that only this side has. */
    abstract void wipeOwnKey();
}
