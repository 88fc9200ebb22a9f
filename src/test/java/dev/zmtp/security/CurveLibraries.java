package dev.zmtp.security;

import static org.assertj.core.api.Assertions.fail;

import java.util.List;

/** The libraries that CURVE can compute with here. */
public final class CurveLibraries {

    /** The first Java that can call libsodium. */
    static final int FIRST_JAVA = 22;

    private CurveLibraries() {}

    /** All of them: Bouncy Castle, and libsodium unless Java is too old. */
    static List<CurvePrimitives> all() {
        CurvePrimitives bouncyCastle = new BouncyCastle();
        if (Runtime.version().feature() < FIRST_JAVA) {
            return List.of(bouncyCastle);
        }
        try {
            return List.of(bouncyCastle, new Libsodium());
        } catch (UnsatisfiedLinkError e) {
            if ("true".equals(System.getenv("CI"))) {
                fail("libsodium: " + e.getMessage(), e); // there nothing may be left untested
            }
            return List.of(bouncyCastle);
        }
    }

    /** Whether libsodium can be called here. */
    public static boolean hasLibsodium() {
        return !libsodium().isEmpty();
    }

    /** Those that are libsodium: none or one. */
    static List<CurvePrimitives> libsodium() {
        return all().stream().filter(Libsodium.class::isInstance).toList();
    }
}
