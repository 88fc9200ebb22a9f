package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Choice of the library for the computations of CURVE. Both libraries can be missing, too old or wrong, so each is
 * tested before it is used.
 */
final class PrimitivesChoice {

    /** System property with the choice. {@link ZMTPCurve} lists its values. */
    static final String PROPERTY = "dev.zmtp.curve.primitives";

    private static final String AUTO = "auto";

    private static final String NO_BOUNCY_CASTLE =
            "CURVE: no usable Bouncy Castle (expected: org.bouncycastle:bcprov-jdk18on among the dependencies,"
                    + " as a module org.bouncycastle.provider)";

    /** Box that NaCl creates from 33 zeros, with a key and a nonce of zeros. */
    private static final byte[] BOX = HexFormat.of()
            .parseHex("0d6681dced740667c699f0ac71bfd1bd"
                    + "c63ebbfffe85ce2cebdef7dc42f494576d05bdd7b929ebb045f2a793f740277d05");

    /** Public key of a secret key of zeros. */
    private static final byte[] PUBLIC_KEY =
            HexFormat.of().parseHex("2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74");

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(PrimitivesChoice.class);

    private static final PrimitivesChoice CHOICE = new PrimitivesChoice(
            System.getProperty(PROPERTY, AUTO), NativeLibrary::checkAccess, Libsodium::load, BouncyCastle::new);

    private final @Nullable CurvePrimitives primitives;

    /** Description of the choice and its reason, or the reason why no library is available. */
    private final String text;

    /** Library, or the reason why it cannot be used. */
    private record Candidate(@Nullable CurvePrimitives primitives, String problem) {

        static Candidate of(Supplier<CurvePrimitives> library) {
            try {
                CurvePrimitives primitives = library.get();
                return isRight(primitives)
                        ? new Candidate(primitives, "")
                        : new Candidate(null, primitives + ": another box or key (expected: NaCl's)");
            } catch (RuntimeException | Error e) { // whatever is wrong with it, there is another library
                return new Candidate(null, String.valueOf(e.getMessage()));
            }
        }
    }

    /**
     * Makes the choice.
     *
     * @param setting the value of the property
     * @param checkAccess throws an {@link UnsatisfiedLinkError} if libsodium must only be used if the setting requires
     *     it
     */
    PrimitivesChoice(
            String setting,
            Runnable checkAccess,
            Supplier<CurvePrimitives> libsodium,
            Supplier<CurvePrimitives> bouncyCastle) {
        String set = PROPERTY + ": " + setting;
        switch (setting) {
            case AUTO -> {
                Candidate faster = Candidate.of(() -> {
                    checkAccess.run();
                    return libsodium.get();
                });
                primitives = faster.primitives != null ? faster.primitives : Candidate.of(bouncyCastle).primitives;
                String problem = faster.primitives != null ? "" : "; no usable libsodium: " + faster.problem;
                text = primitives != null ? chosen(primitives, set + problem) : NO_BOUNCY_CASTLE + problem;
            }
            case "libsodium" -> {
                Candidate only = Candidate.of(libsodium);
                primitives = only.primitives;
                text = primitives != null ? chosen(primitives, set) : "CURVE: no usable libsodium: " + only.problem;
            }
            case "bouncycastle" -> {
                primitives = Candidate.of(bouncyCastle).primitives;
                text = primitives != null ? chosen(primitives, set) : NO_BOUNCY_CASTLE;
            }
            default -> {
                primitives = null;
                text = set + " (expected: auto, libsodium or bouncycastle)";
            }
        }
        logger.debug(text);
    }

    private static String chosen(CurvePrimitives primitives, String why) {
        return "CURVE computes with " + primitives + " (" + why + ")";
    }

    /**
     * Tests the available version, because an old version can lack a method, and a later version can use a key in
     * another way.
     */
    private static boolean isRight(CurvePrimitives primitives) {
        byte[] key = new byte[SecretBox.KEY_LENGTH];
        SecretBox boxes = new SecretBox(primitives, key, new byte[SecretBox.PREFIX_LENGTH]);
        return seals(boxes, Unpooled.buffer(BOX.length))
                && seals(boxes, Unpooled.directBuffer(BOX.length))
                && Arrays.equals(primitives.publicKey(key), PUBLIC_KEY);
    }

    /**
     * Returns whether a box is sealed and opened correctly. With libsodium, a buffer with an address takes another path
     * than a buffer without an address.
     */
    private static boolean seals(SecretBox boxes, ByteBuf box) {
        try {
            int length = BOX.length - SecretBox.MAC_LENGTH;
            boxes.seal(0, box.writeZero(BOX.length), SecretBox.MAC_LENGTH, length);
            return box.equals(Unpooled.wrappedBuffer(BOX)) && boxes.open(0, box, SecretBox.MAC_LENGTH, length);
        } finally {
            box.release();
        }
    }

    /**
     * Checks that a library is available.
     *
     * @throws IllegalStateException if no library is available, or the setting is not valid
     */
    static void require() {
        CHOICE.get();
    }

    /** Returns the primitives to compute with. Throws exceptions like {@link #require}. */
    static CurvePrimitives primitives() {
        return CHOICE.get();
    }

    CurvePrimitives get() {
        if (primitives == null) {
            throw new IllegalStateException(text);
        }
        return primitives;
    }

    @Override
    public String toString() {
        return text;
    }
}
