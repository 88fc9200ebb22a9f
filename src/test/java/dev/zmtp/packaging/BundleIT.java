package dev.zmtp.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.security.CurveLibraries;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.felix.framework.FrameworkFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.BundleWiring;

/** The jar is an OSGi bundle: a framework resolves it with Netty's, and others see what the module exports. */
class BundleIT {

    private static final String PRIMITIVES = "dev.zmtp.curve.primitives";

    private final String primitives = System.getProperty(PRIMITIVES);

    @TempDir
    private Path storage;

    private Framework framework;
    private Bundle library;

    @BeforeEach
    void startsWithNettyAndTheLibrary() throws Exception {
        framework = new FrameworkFactory()
                .newFramework(Map.of(
                        Constants.FRAMEWORK_STORAGE,
                        storage.toString(),
                        // BlockHound weaves calls of its own into Netty's classes, which the bundles do not import.
                        Constants.FRAMEWORK_BOOTDELEGATION,
                        "reactor.blockhound",
                        Constants.FRAMEWORK_BUNDLE_PARENT,
                        Constants.FRAMEWORK_BUNDLE_PARENT_APP,
                        "felix.log.level",
                        "1"));
        framework.start();
        for (Path netty : Jars.netty()) {
            install(netty);
        }
        library = install(Jars.ours());
    }

    @AfterEach
    void stops() throws Exception {
        if (primitives == null) {
            System.clearProperty(PRIMITIVES);
        } else {
            System.setProperty(PRIMITIVES, primitives);
        }
        framework.stop();
        framework.waitForStop(10_000);
    }

    private Bundle install(Path jar) throws BundleException {
        return framework.getBundleContext().installBundle(jar.toUri().toString());
    }

    @Test
    void theBundleStartsWithNetty() throws Exception {
        library.start();

        assertThat(library.getSymbolicName()).isEqualTo("dev.zmtp.netty-zmtp");
        assertThat(library.getState()).isEqualTo(Bundle.ACTIVE);
    }

    @Test
    void theBundleExportsWhatTheModuleExports() throws Exception {
        library.start();

        ModuleDescriptor module =
                ModuleFinder.of(Jars.ours()).find("dev.zmtp").orElseThrow().descriptor();
        assertThat(library.adapt(BundleWiring.class).getCapabilities(BundleRevision.PACKAGE_NAMESPACE))
                .extracting(exported -> exported.getAttributes().get(BundleRevision.PACKAGE_NAMESPACE))
                .containsExactlyInAnyOrderElementsOf(module.exports().stream()
                        .<Object>map(ModuleDescriptor.Exports::source)
                        .toList());
        assertThat(library.adapt(BundleWiring.class).getCapabilities(BundleRevision.PACKAGE_NAMESPACE))
                .extracting(exported -> exported.getAttributes().get(Constants.VERSION_ATTRIBUTE))
                .containsOnly(library.getVersion());
    }

    @Test
    void theBundleRequiresOnlyNetty4FromVersion41On() throws IOException {
        try (JarFile jar = new JarFile(Jars.ours().toFile())) {
            String imports = jar.getManifest().getMainAttributes().getValue(Constants.IMPORT_PACKAGE);

            List<String> clauses = List.of(imports.split(",(?=[a-z])"));
            assertThat(clauses)
                    .filteredOn(clause -> clause.contains("resolution:=optional"))
                    .isNotEmpty()
                    .allMatch(clause -> clause.startsWith("org.bouncycastle.")
                            || clause.startsWith("com.sun.jna;")
                            || clause.startsWith("io.micrometer.")
                            || clause.startsWith("jdk.jfr;")
                            || clause.startsWith("io.netty.handler.codec.http;")
                            || clause.startsWith("io.netty.handler.ssl"));
            assertThat(clauses)
                    .filteredOn(clause -> !clause.contains("resolution:=optional"))
                    .allMatch(
                            clause -> clause.matches("io\\.netty\\.[a-z.]+;version=\"\\[4\\.1,5\\)\"|javax\\.[a-z.]+"))
                    .contains("io.netty.channel;version=\"[4.1,5)\"", "io.netty.handler.codec;version=\"[4.1,5)\"");
        }
    }

    @Test
    void anotherBundleUsesTheLibrary() throws Exception {
        System.setProperty(PRIMITIVES, "bouncycastle"); // which is not installed
        assertThat(conversation()).isEqualTo(SmallProgram.OUTCOME);
    }

    @Test
    @Tag("java>=22")
    void withLibsodiumCurveNeedsNoOtherBundle() throws Exception {
        assumeTrue(CurveLibraries.hasLibsodium());
        System.setProperty(PRIMITIVES, "libsodium");
        assertThat(conversation()).isEqualTo(SmallProgram.OUTCOME_WITH_CURVE);
    }

    @Test
    @Tag("java<22")
    void withJnaAndLibsodiumCurveNeedsNoBouncyCastle() throws Exception {
        assumeTrue(CurveLibraries.hasLibsodiumThroughJna());
        install(Jars.jna());
        System.setProperty(PRIMITIVES, "libsodium");
        assertThat(conversation()).isEqualTo(SmallProgram.OUTCOME_WITH_CURVE);
    }

    @Test
    @Tag("java<22")
    void withoutJnaAnOldJavaDoesNotReachLibsodium() throws Exception {
        System.setProperty(PRIMITIVES, "libsodium");
        assertThat(conversation()).isEqualTo(SmallProgram.OUTCOME);
    }

    /** Runs the small program in a bundle of its own. */
    private Object conversation() throws Exception {
        Bundle user =
                installUser(SmallProgram.class, "dev.zmtp", "dev.zmtp.codec", "dev.zmtp.security", "dev.zmtp.socket");

        Callable<?> conversation = (Callable<?>) user.loadClass(SmallProgram.class.getName())
                .getDeclaredConstructor()
                .newInstance();

        assertThat(conversation).isNotInstanceOf(SmallProgram.class);
        return conversation.call();
    }

    @Test
    void noOtherBundleSeesTheWire() throws Exception {
        Bundle user = installUser(SmallProgram.class, "dev.zmtp", "dev.zmtp.codec", "dev.zmtp.internal.wire");

        assertThatThrownBy(user::start)
                .isInstanceOf(BundleException.class)
                .hasMessageContaining("dev.zmtp.internal.wire");
    }

    /** Installs a bundle of one class, which imports these packages and those of Netty that the class uses. */
    private Bundle installUser(Class<?> type, String... imports) throws IOException, BundleException {
        Manifest manifest = new Manifest();
        Attributes headers = manifest.getMainAttributes();
        headers.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        headers.putValue(Constants.BUNDLE_MANIFESTVERSION, "2");
        headers.putValue(Constants.BUNDLE_SYMBOLICNAME, "user");
        headers.putValue(
                Constants.IMPORT_PACKAGE,
                String.join(",", imports)
                        + ",io.netty.buffer,io.netty.channel,io.netty.channel.embedded,io.netty.util");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String file = type.getName().replace('.', '/') + ".class";
        try (JarOutputStream jar = new JarOutputStream(bytes, manifest);
                InputStream in = type.getClassLoader().getResourceAsStream(file)) {
            jar.putNextEntry(new JarEntry(file));
            in.transferTo(jar);
        }
        return framework.getBundleContext().installBundle("user", new ByteArrayInputStream(bytes.toByteArray()));
    }
}
