package dev.zmtp.security;

import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The libraries that CURVE can compute with here. */
public final class CurveLibraries {

    private CurveLibraries() {}

    /** All of them, each in every way that this Java can call it. */
    static List<CurvePrimitives> all() {
        List<CurvePrimitives> all = new ArrayList<>(List.of(new BouncyCastle()));
        all.addAll(libsodium());
        return all;
    }

    /** Whether libsodium can be called here without JNA. */
    public static boolean hasLibsodium() {
        return NativeLibrary.isForeignAvailable()
                && !through(ForeignLibsodium::new).isEmpty();
    }

    /** Whether libsodium can be called here through JNA. */
    public static boolean hasLibsodiumThroughJna() {
        return !through(JnaLibsodium::new).isEmpty();
    }

    /** libsodium: through JNA, and unless Java is too old also without. */
    static List<Libsodium> libsodium() {
        List<Libsodium> ways = new ArrayList<>(through(JnaLibsodium::new));
        if (NativeLibrary.isForeignAvailable()) {
            ways.addAll(through(ForeignLibsodium::new));
        }
        return ways;
    }

    private static List<Libsodium> through(Supplier<LibsodiumFunctions> functions) {
        try {
            return List.of(new Libsodium(functions.get()));
        } catch (LinkageError e) {
            if ("true".equals(System.getenv("CI"))) {
                fail("libsodium: " + e.getMessage(), e); // there nothing may be left untested
            }
            return List.of();
        }
    }
}
