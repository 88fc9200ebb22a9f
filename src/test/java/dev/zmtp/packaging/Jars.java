package dev.zmtp.packaging;

import com.sun.jna.Native;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.netty.resolver.AddressResolver;
import io.netty.util.ReferenceCounted;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The jars that a user of the library has. */
final class Jars {

    private Jars() {}

    /** The jar that the build made. */
    static Path ours() {
        String jar = System.getProperty("zmtp.jar");
        if (jar == null || !Files.isRegularFile(Path.of(jar))) {
            throw new IllegalStateException("zmtp.jar: " + jar + " (expected: the jar of this build; run mvn verify)");
        }
        return Path.of(jar);
    }

    /** Those of Netty that the library needs, of the version that the tests run on. */
    static List<Path> netty() {
        return Stream.of(
                        ReferenceCounted.class,
                        ByteBuf.class,
                        AddressResolver.class,
                        Bootstrap.class,
                        DecoderException.class)
                .map(Jars::of)
                .toList();
    }

    /** That of JNA. */
    static Path jna() {
        return of(Native.class);
    }

    private static Path of(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
