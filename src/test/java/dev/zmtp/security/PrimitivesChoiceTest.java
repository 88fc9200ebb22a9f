package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.CapturedLog;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Which library CURVE computes with. */
class PrimitivesChoiceTest {

    private static final String NO_BOUNCY_CASTLE =
            "CURVE: no usable Bouncy Castle (expected: org.bouncycastle:bcprov-jdk18on among the dependencies,"
                    + " as a module org.bouncycastle.provider)";

    private final CurvePrimitives bouncyCastle = named("Bouncy Castle", 0);
    private final CurvePrimitives libsodium = named("libsodium 1.2.3", 0);

    /** Bouncy Castle under another name, and with these bits of each public key wrong. */
    private static CurvePrimitives named(String name, int fault) {
        CurvePrimitives real = new BouncyCastle();
        return new CurvePrimitives() {
            @Override
            public byte[] publicKey(byte[] secretKey) {
                byte[] publicKey = real.publicKey(secretKey);
                publicKey[31] ^= (byte) fault;
                return publicKey;
            }

            @Override
            public boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
                return real.agree(secretKey, publicKey, agreed);
            }

            @Override
            public byte[] derive(byte[] key, byte[] prefix) {
                return real.derive(key, prefix);
            }

            @Override
            public BoxCipher cipher(byte[] derived) {
                return real.cipher(derived);
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    private static Supplier<CurvePrimitives> missing(String why) {
        return () -> {
            throw new UnsatisfiedLinkError(why);
        };
    }

    private static PrimitivesChoice choice(
            String setting, Supplier<CurvePrimitives> libsodium, Supplier<CurvePrimitives> bouncyCastle) {
        return new PrimitivesChoice(setting, () -> {}, libsodium, bouncyCastle);
    }

    @Test
    void libsodiumIsUsedWhereItCanBe() {
        PrimitivesChoice choice = choice("auto", () -> libsodium, missing("not needed"));
        assertThat(choice.get()).isSameAs(libsodium);
        assertThat(choice).hasToString("CURVE computes with libsodium 1.2.3 (dev.zmtp.curve.primitives: auto)");
    }

    @Test
    void bouncyCastleIsUsedWhereLibsodiumCannotBe() {
        PrimitivesChoice choice = choice("auto", missing("Java 17"), () -> bouncyCastle);
        assertThat(choice.get()).isSameAs(bouncyCastle);
        assertThat(choice)
                .hasToString("CURVE computes with Bouncy Castle (dev.zmtp.curve.primitives: auto;"
                        + " no usable libsodium: Java 17)");
    }

    @Test
    void aLibraryThatComputesSomethingElseIsNotUsed() {
        PrimitivesChoice choice = choice("auto", () -> named("libsodium 1.2.3", 1), () -> bouncyCastle);
        assertThat(choice.get()).isSameAs(bouncyCastle);
        assertThat(choice.toString()).contains("libsodium 1.2.3: another box or key (expected: NaCl's)");

        PrimitivesChoice none = choice("bouncycastle", () -> libsodium, () -> named("Bouncy Castle", 1));
        assertThatThrownBy(none::get).isInstanceOf(IllegalStateException.class).hasMessage(NO_BOUNCY_CASTLE);
    }

    /** The JVM would print a warning of its own about a library that the user may not even know of. */
    @Test
    void libsodiumIsNotCalledWithoutNativeAccessUnlessItIsSet() {
        Runnable noAccess = () -> {
            throw new UnsatisfiedLinkError("no access");
        };
        assertThat(new PrimitivesChoice("auto", noAccess, () -> libsodium, () -> bouncyCastle).get())
                .isSameAs(bouncyCastle);
        assertThat(new PrimitivesChoice("libsodium", noAccess, () -> libsodium, () -> bouncyCastle).get())
                .isSameAs(libsodium);
    }

    @Test
    void withoutEitherLibraryBothReasonsAreGiven() {
        PrimitivesChoice choice = choice("auto", missing("Java 17"), missing("not there"));
        assertThatThrownBy(choice::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(NO_BOUNCY_CASTLE + "; no usable libsodium: Java 17");
    }

    @Test
    void whatIsSetIsUsedOrNothingIs() {
        assertThat(choice("bouncycastle", missing("not asked"), () -> bouncyCastle)
                        .get())
                .isSameAs(bouncyCastle);
        assertThat(choice("libsodium", () -> libsodium, missing("not asked")).get())
                .isSameAs(libsodium);
        assertThatThrownBy(choice("libsodium", missing("not found"), () -> bouncyCastle)::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("CURVE: no usable libsodium: not found");
        assertThatThrownBy(choice("bouncycastle", () -> libsodium, missing("not there"))::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(NO_BOUNCY_CASTLE);
    }

    @Test
    void anotherSettingIsRefused() {
        assertThatThrownBy(choice("sodium", () -> libsodium, () -> bouncyCastle)::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("dev.zmtp.curve.primitives: sodium (expected: auto, libsodium or bouncycastle)");
    }

    @Test
    void theChoiceIsLogged() {
        try (CapturedLog log = new CapturedLog(PrimitivesChoice.class.getName())) {
            PrimitivesChoice choice = choice("auto", () -> libsodium, () -> bouncyCastle);
            assertThat(log.lines).containsExactly(choice.toString());
        }
    }

    /** The other tests of CURVE run with what is chosen here: on one Java in this way, on another in that one. */
    @Test
    void theseTestsUseLibsodiumInTheWayOfThisJavaUnlessBouncyCastleIsSet() {
        List<CurvePrimitives> all = CurveLibraries.all();
        boolean isBouncyCastleSet = "bouncycastle".equals(System.getProperty(PrimitivesChoice.PROPERTY));
        CurvePrimitives expected = all.get(isBouncyCastleSet ? 0 : all.size() - 1);
        assertThat(PrimitivesChoice.primitives()).hasToString(expected.toString());
    }
}
