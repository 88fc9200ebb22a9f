package dev.zmtp.security;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Native library, called through {@code java.lang.foreign}. This package exists since Java 22 and this class is
 * compiled for Java 17, so everything is looked up by name. Functions take both numbers and addresses as {@code long},
 * so that their callers can also be compiled for Java 17.
 */
final class NativeLibrary {

    /** First version of Java with {@code java.lang.foreign}. */
    static final int FIRST_JAVA = 22;

    private static final String FOREIGN = "java.lang.foreign.";

    /** Maximum number of bytes that {@link #text} reads. */
    private static final long MAX_TEXT_LENGTH = 64;

    private final @Nullable Object symbols;

    /** Reason for missing symbols. */
    private final UnsatisfiedLinkError problem;

    private NativeLibrary(@Nullable Object symbols, UnsatisfiedLinkError problem) {
        this.symbols = symbols;
        this.problem = problem;
    }

    /** Returns whether this Java has {@code java.lang.foreign}. */
    static boolean isForeignAvailable() {
        return Runtime.version().feature() >= FIRST_JAVA;
    }

    /**
     * Checks that this JVM calls native functions without a warning. A JVM without {@code java.lang.foreign} never
     * warns.
     *
     * @throws UnsatisfiedLinkError if not, with the reason
     */
    static void checkAccess() {
        checkNoImage();
        if (!isForeignAvailable()) {
            return;
        }
        Module module = NativeLibrary.class.getModule();
        try {
            if (!(boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(module)) {
                String name = module.isNamed() ? module.getName() : "ALL-UNNAMED";
                throw new UnsatisfiedLinkError("no native access; add the JVM option --enable-native-access=" + name);
            }
        } catch (ReflectiveOperationException e) {
            throw unsatisfied(e);
        }
    }

    /**
     * Checks that this is a JVM, because a native image has only the functions that it was built with.
     *
     * @throws UnsatisfiedLinkError if this is a native image
     */
    static void checkNoImage() {
        if (System.getProperty("org.graalvm.nativeimage.imagecode") != null) {
            throw new UnsatisfiedLinkError("not supported in a native image");
        }
    }

    private static void checkJvm() {
        checkNoImage();
        if (!isForeignAvailable()) {
            throw new UnsatisfiedLinkError(
                    "Java " + Runtime.version().feature() + " (expected: " + FIRST_JAVA + " or later)");
        }
    }

    /**
     * Loads the first of these libraries that the system finds, until the JVM ends. If the system finds none, or this
     * JVM cannot call native functions, all functions fail.
     */
    static NativeLibrary load(List<String> names) {
        try {
            checkJvm();
            return new NativeLibrary(symbols(names), new UnsatisfiedLinkError("none"));
        } catch (ReflectiveOperationException e) {
            return new NativeLibrary(null, unsatisfied(e));
        } catch (UnsatisfiedLinkError e) {
            return new NativeLibrary(null, e);
        }
    }

    private static Object symbols(List<String> names) throws ReflectiveOperationException {
        if ((long) type("MemoryLayout").getMethod("byteSize").invoke(layout("ADDRESS")) != Long.BYTES) {
            throw new UnsatisfiedLinkError("not supported without 64-bit addresses");
        }
        Method lookup = type("SymbolLookup").getMethod("libraryLookup", String.class, type("Arena"));
        Object arena = type("Arena").getMethod("global").invoke(null);
        for (String name : names) {
            try {
                return lookup.invoke(null, name, arena);
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof IllegalArgumentException)) {
                    throw e;
                }
                // Not under this name.
            }
        }
        throw new UnsatisfiedLinkError("not found under these names: " + String.join(", ", names));
    }

    /**
     * Returns a function of this many {@code long} arguments. A function that cannot be called throws an
     * {@link UnsatisfiedLinkError} with the reason.
     *
     * @param returned {@code int.class} or {@code long.class}
     */
    MethodHandle function(String name, Class<?> returned, int arguments) {
        UnsatisfiedLinkError error = problem;
        if (symbols != null) {
            try {
                return link(symbols, name, layout(returned == int.class ? "JAVA_INT" : "JAVA_LONG"), arguments);
            } catch (ReflectiveOperationException e) {
                error = unsatisfied(e);
            } catch (UnsatisfiedLinkError e) {
                error = e;
            }
        }
        MethodHandle failing = MethodHandles.throwException(returned, UnsatisfiedLinkError.class)
                .bindTo(error);
        return MethodHandles.dropArguments(failing, 0, Collections.nCopies(arguments, long.class));
    }

    private static MethodHandle link(Object symbols, String name, Object returned, int arguments)
            throws ReflectiveOperationException {
        Object address = ((Optional<?>)
                        type("SymbolLookup").getMethod("find", String.class).invoke(symbols, name))
                .orElseThrow(() -> new UnsatisfiedLinkError(name + ": not in the library"));
        Object[] layouts = array("MemoryLayout", arguments);
        Arrays.fill(layouts, layout("JAVA_LONG"));
        Object descriptor = type("FunctionDescriptor")
                .getMethod("of", type("MemoryLayout"), layouts.getClass())
                .invoke(null, returned, layouts);
        Object linker = type("Linker").getMethod("nativeLinker").invoke(null);
        Object[] options = array("Linker$Option", 0);
        return (MethodHandle) type("Linker")
                .getMethod("downcallHandle", type("MemorySegment"), type("FunctionDescriptor"), options.getClass())
                .invoke(linker, address, descriptor, options);
    }

    /** Returns the zero-terminated text at an address that a function has returned. */
    static String text(long address) {
        try {
            Class<?> segments = type("MemorySegment");
            Object start = segments.getMethod("ofAddress", long.class).invoke(null, address);
            Object text = segments.getMethod("reinterpret", long.class).invoke(start, MAX_TEXT_LENGTH);
            return (String) segments.getMethod("getString", long.class).invoke(text, 0L);
        } catch (ReflectiveOperationException e) {
            throw unsatisfied(e);
        }
    }

    /** Returns the address of a direct buffer, which is valid as long as the buffer is reachable. */
    static long address(Buffer buffer) {
        try {
            Class<?> segments = type("MemorySegment");
            Object segment = segments.getMethod("ofBuffer", Buffer.class).invoke(null, buffer);
            return (long) segments.getMethod("address").invoke(segment);
        } catch (ReflectiveOperationException e) {
            throw unsatisfied(e);
        }
    }

    private static Object layout(String name) throws ReflectiveOperationException {
        return type("ValueLayout").getField(name).get(null);
    }

    private static Object[] array(String type, int length) throws ClassNotFoundException {
        return (Object[]) Array.newInstance(type(type), length);
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(FOREIGN + name);
    }

    private static UnsatisfiedLinkError unsatisfied(ReflectiveOperationException e) {
        Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(String.valueOf(cause));
        error.initCause(cause);
        return error;
    }
}
