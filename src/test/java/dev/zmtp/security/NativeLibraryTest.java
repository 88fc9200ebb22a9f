package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of functions that cannot be called. */
class NativeLibraryTest {

    private static final List<String> MISSING = List.of("libmissing.so.1", "libmissing.so");
    private static final String IMAGE = "org.graalvm.nativeimage.imagecode";

    private static MethodHandle function(List<String> names, String name) {
        return NativeLibrary.load(names).function(name, int.class, 2);
    }

    @Test
    @Tag("java<22")
    void anOldJavaCallsNone() {
        MethodHandle function = function(MISSING, "f");
        String reason = "Java " + Runtime.version().feature() + " (expected: 22 or later)";
        assertThat(function.type()).isEqualTo(MethodType.methodType(int.class, long.class, long.class));
        assertThatThrownBy(() -> function.invoke(1L, 2L)).hasMessage(reason);
    }

    @Test
    @Tag("java<22")
    void anOldJavaAsksForNoAccess() {
        assertThatCode(NativeLibrary::checkAccess).doesNotThrowAnyException();
    }

    /** An image has only those classes and functions that its build was told of. */
    @Test
    void aNativeImageCallsNone() {
        System.setProperty(IMAGE, "runtime");
        try {
            MethodHandle function = function(MISSING, "f");
            assertThatThrownBy(() -> function.invoke(1L, 2L))
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("not supported in a native image");
            assertThatThrownBy(Libsodium::load)
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("not supported in a native image");
            assertThatThrownBy(NativeLibrary::checkAccess)
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("not supported in a native image");
        } finally {
            System.clearProperty(IMAGE);
        }
    }

    @Test
    @Tag("java>=22")
    void aFunctionOfAMissingLibrarySaysSo() {
        MethodHandle function = function(MISSING, "f");
        assertThatThrownBy(() -> function.invoke(1L, 2L))
                .isInstanceOf(UnsatisfiedLinkError.class)
                .hasMessage("not found under these names: libmissing.so.1, libmissing.so");
    }

    @Test
    @Tag("java>=22")
    void aMissingFunctionSaysSo() {
        MethodHandle function = function(List.of("libmissing.so.1", "libc.so.6"), "no_such_function");
        assertThat(function.type()).isEqualTo(MethodType.methodType(int.class, long.class, long.class));
        assertThatThrownBy(() -> function.invoke(1L, 2L))
                .isInstanceOf(UnsatisfiedLinkError.class)
                .hasMessage("no_such_function: not in the library");
    }

    @Test
    @Tag("java>=22")
    void theTestsHaveNativeAccess() {
        assertThatCode(NativeLibrary::checkAccess).doesNotThrowAnyException();
    }
}
