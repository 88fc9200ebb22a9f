package dev.zmtp;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaParameterizedType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.ImportOption.OnlyIncludeTests;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.zmtp.internal.runtime.AbruptClose;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.internal.runtime.LoopHooks;
import dev.zmtp.internal.socket.send.Routing;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.platform.commons.annotation.Testable;

/** The arrows of the package picture in {@code ARCHITECTURE.md}, and the names that go with it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // what was imported takes 150 MB, and goes with the instance
class ArchitectureTest {
    private static final String VALUES = "dev.zmtp";
    private static final String WIRE = "dev.zmtp.internal.wire..";
    private static final String SECURITY = "dev.zmtp.security..";
    static final String CODEC = "dev.zmtp.codec..";
    static final String HANDSHAKE = "dev.zmtp.internal.handshake..";
    static final String TRAFFIC = "dev.zmtp.internal.traffic..";
    static final String READ = "dev.zmtp.internal.read..";
    static final String WRITE = "dev.zmtp.internal.write..";
    static final String CONNECTION = "dev.zmtp.internal.connection..";
    static final String ADMISSION = "dev.zmtp.internal.admission..";
    private static final String ZAP = "dev.zmtp.zap..";
    private static final String METRICS = "dev.zmtp.metrics..";
    private static final String TEST = "dev.zmtp.test..";
    private static final String CAPTURE = "dev.zmtp.capture..";
    private static final String INSIDE_CAPTURE = "dev.zmtp.internal.capture..";
    private static final String SHM = "dev.zmtp.shm..";
    private static final String SOCKET = "dev.zmtp.socket..";
    static final String INSIDE_SOCKET = "dev.zmtp.internal.socket..";
    static final String TRANSPORT = "dev.zmtp.internal.transport..";
    static final String PROXY = "dev.zmtp.internal.proxy..";
    static final String WEBSOCKET = "dev.zmtp.websocket..";
    static final String INSIDE_WEBSOCKET = "dev.zmtp.internal.websocket..";

    /** What any room may use. */
    private static final String RUNTIME = "dev.zmtp.internal.runtime..";

    /** The bound of what connections and sockets keep. */
    private static final String MEMORY = "dev.zmtp.internal.memory..";

    static final String[] INSIDE_CODEC = {HANDSHAKE, TRAFFIC, READ, WRITE, CONNECTION, ADMISSION};
    private static final String[] ABOVE_CODEC = {
        ZAP,
        METRICS,
        TEST,
        CAPTURE,
        INSIDE_CAPTURE,
        SOCKET,
        INSIDE_SOCKET,
        TRANSPORT,
        PROXY,
        WEBSOCKET,
        INSIDE_WEBSOCKET
    };

    /** Exported types that go without the prefix, because the predecessor's users know them by this name. */
    private static final Set<String> UNPREFIXED = Set.of("BatchFlusher");

    private final JavaClasses main =
            new ClassFileImporter().withImportOption(new DoNotIncludeTests()).importPackages("dev.zmtp");
    private final JavaClasses tests =
            new ClassFileImporter().withImportOption(new OnlyIncludeTests()).importPackages("dev.zmtp");

    @Test
    void dependenciesPointDownOnly() {
        String[] codec = and(INSIDE_CODEC, CODEC);
        dependOnNone(VALUES, and(and(ABOVE_CODEC, codec), WIRE, SECURITY));
        dependOnNone(WIRE, and(and(ABOVE_CODEC, codec), SECURITY));
        dependOnNone(SECURITY, and(ABOVE_CODEC, codec));
        for (String room : codec) {
            dependOnNone(room, ABOVE_CODEC);
        }
        dependOnNone(TEST, and(INSIDE_CODEC, METRICS, WIRE, ZAP, PROXY));
        dependOnNone(CAPTURE, and(INSIDE_CODEC, METRICS, TEST, ZAP, SOCKET, INSIDE_SOCKET, TRANSPORT, PROXY));
        dependOnNone(INSIDE_CAPTURE, and(INSIDE_CODEC, METRICS, TEST, ZAP, SOCKET, INSIDE_SOCKET, TRANSPORT, PROXY));
        dependOnNone(METRICS, and(INSIDE_CODEC, TEST, WIRE, ZAP, TRANSPORT, PROXY));
        dependOnNone(ZAP, and(INSIDE_CODEC, TEST, METRICS, INSIDE_SOCKET, TRANSPORT, PROXY));
        dependOnNone(SOCKET, and(INSIDE_CODEC, TEST, METRICS, WIRE, ZAP));
        dependOnNone(PROXY, and(INSIDE_CODEC, TEST, METRICS, WIRE, ZAP));
        dependOnNone(INSIDE_SOCKET, and(INSIDE_CODEC, TEST, METRICS, WIRE, ZAP, PROXY));
        dependOnNone(TRANSPORT, and(INSIDE_CODEC, TEST, METRICS, WIRE, ZAP, PROXY, INSIDE_SOCKET));
        for (String room : and(new String[] {WEBSOCKET}, INSIDE_WEBSOCKET)) {
            dependOnNone(room, and(INSIDE_CODEC, TEST, METRICS, CAPTURE, INSIDE_CAPTURE, ZAP, SOCKET, INSIDE_SOCKET));
            dependOnNone(room, TRANSPORT, PROXY);
        }
        dependOnNone(MEMORY, and(and(ABOVE_CODEC, codec), SHM, WIRE, SECURITY));
        dependOnNone(RUNTIME, and(and(and(ABOVE_CODEC, codec), SHM), VALUES, WIRE, SECURITY, MEMORY));
    }

    /** Micrometer is optional. */
    @Test
    void onlyMetersKnowMicrometer() {
        noClasses()
                .that()
                .resideOutsideOfPackage(METRICS)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.micrometer..")
                .check(main);
    }

    /** A transport carries bytes, whatever they mean, and a codec runs on any. */
    @Test
    void sharedMemoryStandsApart() {
        noClasses()
                .that()
                .resideInAPackage(SHM)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(and(and(ABOVE_CODEC, INSIDE_CODEC), VALUES, WIRE, SECURITY, CODEC))
                .check(main);
        noClasses()
                .that()
                .resideOutsideOfPackages(SHM, SOCKET, INSIDE_SOCKET, TRANSPORT)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(SHM)
                .check(main);
    }

    @Test
    void everyClassIsInALayer() {
        classes()
                .should()
                .resideInAnyPackage(
                        and(and(ABOVE_CODEC, INSIDE_CODEC), VALUES, WIRE, SECURITY, CODEC, SHM, MEMORY, RUNTIME))
                .check(main);
    }

    @Test
    void packagesFormNoCycle() {
        slices().assignedFrom(new Floors()).should().beFreeOfCycles().check(main);
    }

    /** An exported package and its hidden ones are one floor: the classes that users make know the classes inside. */
    private static final class Floors implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            if (resideInAnyPackage(INSIDE_CODEC).test(type)) {
                return SliceIdentifier.of("codec");
            }
            if (resideInAnyPackage(INSIDE_SOCKET, TRANSPORT, PROXY).test(type)) {
                return SliceIdentifier.of("socket");
            }
            String name = type.getPackageName().replaceFirst("^dev\\.zmtp\\.?(internal\\.)?", "");
            return name.isEmpty() ? SliceIdentifier.ignore() : SliceIdentifier.of(name.replaceFirst("\\..*", ""));
        }

        @Override
        public String getDescription() {
            return "the packages, each with its hidden ones";
        }
    }

    @Test
    void onlyTheClassesThatUsersMakeAndTheStatsKnowTheInsideOfSockets() {
        noClasses()
                .that()
                .resideOutsideOfPackages(INSIDE_SOCKET, PROXY)
                .and()
                .haveNameNotMatching(
                        "dev\\.zmtp\\.socket\\.ZMTP(Socket|SocketConfig|SocketSettings|Stats|Proxy|Transport)(\\$.*)?"
                                + "|dev\\.zmtp\\.metrics\\.SocketListener"
                                + "|dev\\.zmtp\\.test\\.(VirtualLoop|WatchedSocket)")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(INSIDE_SOCKET)
                .check(main);
    }

    @Test
    void onlyTheCodecAndTheLayersAboveItKnowChannels() {
        noClasses()
                .that()
                .resideOutsideOfPackages(and(and(ABOVE_CODEC, INSIDE_CODEC), CODEC, SHM))
                .and()
                .areNotAssignableTo(LoopHooks.class) // closes the channels of the transports below the codec
                .and()
                .areNotAssignableTo(AfterReads.class)
                .and()
                .areNotAssignableTo(AbruptClose.class) // closes a channel without its handlers
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty.channel..")
                .check(main);
    }

    /**
     * Code that names no transport runs on all of Netty's. Shared memory is one, and meets over another by default; and
     * a socket has transports that its user need not name.
     */
    @Test
    void noClassOfTheCodecNamesATransport() {
        noClasses()
                .that()
                .resideOutsideOfPackages(SHM, SOCKET, INSIDE_SOCKET, TRANSPORT, TEST)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.netty.channel.embedded..",
                        "io.netty.channel.epoll..",
                        "io.netty.channel.kqueue..",
                        "io.netty.channel.local..",
                        "io.netty.channel.nio..",
                        "io.netty.channel.socket.nio..",
                        "io.netty.channel.unix..",
                        "io.netty.channel.uring..")
                .check(main);
    }

    /**
     * Buffers come from the channel's allocator, which is the user's choice; only a message may be made without a
     * channel.
     */
    @Test
    void noClassUsesTheDefaultAllocator() {
        noClasses()
                .that()
                .doNotBelongToAnyOf(ZMTPMessage.class)
                .should()
                .accessField(ByteBufAllocator.class, "DEFAULT")
                .check(main);
    }

    /** If it cannot grow, it is broken for good. What is not used after a failure may use it. */
    @Test
    void noQueueOfAConnectionIsAPlainArrayDeque() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.zmtp.internal.connection..",
                        "dev.zmtp.internal.socket..",
                        "dev.zmtp.internal.transport..",
                        "dev.zmtp.internal.websocket..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(ArrayDeque.class)
                .check(main);
    }

    /** It is optional: only these may fail to link. */
    @Test
    void onlyTheClassesNamedAfterItKnowBouncyCastle() {
        noClasses()
                .that()
                .haveNameNotMatching(".*\\.BouncyCastle(Cipher)?(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.bouncycastle..")
                .check(main);
    }

    /** It is optional as well. */
    @Test
    void onlyTheClassNamedAfterItKnowsJna() {
        noClasses()
                .that()
                .haveNameNotMatching(".*\\.JnaLibsodium")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.sun.jna..")
                .check(main);
    }

    /** A wrong address ends the process, or worse: so there is one class that makes addresses, and checks them. */
    @Test
    void onlyItsMemoryAndItsStartCallLibsodium() {
        noClasses()
                .that()
                .haveNameNotMatching(".*\\.(Libsodium(Memory|Functions)?|(Foreign|Jna)Libsodium)(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .haveNameMatching(".*\\.(LibsodiumFunctions|(Foreign|Jna)Libsodium)")
                .check(main);
        noClasses()
                .that()
                .haveNameNotMatching(".*\\.LibsodiumMemory")
                .should()
                .callMethod(ByteBuf.class, "memoryAddress")
                .check(main);
    }

    @Test
    void noHiddenTypeAppearsInTheApi() throws URISyntaxException {
        methods()
                .that()
                .areDeclaredInClassesThat(resideInAnyPackage(exportedPackages()))
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .and()
                .arePublic()
                .should(notNameAny("dev.zmtp.internal.."))
                .check(main);
    }

    /** javac's own lint of this is off, since it would also ask users for JSpecify. */
    private static ArchCondition<JavaMethod> notNameAny(String... packages) {
        return new ArchCondition<>("not name a type of " + List.of(packages)) {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                Stream.concat(Stream.of(method.getReturnType()), method.getParameterTypes().stream())
                        .flatMap(type -> type.getAllInvolvedRawTypes().stream())
                        .filter(resideInAnyPackage(packages))
                        .forEach(type -> events.add(SimpleConditionEvent.violated(
                                method, method.getFullName() + " names " + type.getName())));
            }
        };
    }

    @Test
    void nothingIsPrintedAndAllLoggingGoesThroughNetty() {
        NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(main);
        NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.check(main);
    }

    @Test
    void exportedTypesHaveThePrefix() throws URISyntaxException {
        String[] exported = exportedPackages();

        assertThat(exported).contains("dev.zmtp", "dev.zmtp.codec").doesNotContain("dev.zmtp.internal.wire");
        classes()
                .that(resideInAnyPackage(exported).and(describe("are top level", JavaClass::isTopLevelClass)))
                .and()
                .arePublic()
                .and(describe("have no name of old", type -> !UNPREFIXED.contains(type.getSimpleName())))
                .should()
                .haveNameMatching(".*\\.(ZMTP|SharedMemory)\\w+")
                .check(main);
    }

    /** More are a state machine, whose states have no names. Constants and settings that are final are none. */
    @Test
    void noClassHasMoreThanThreeBooleansThatChange() {
        assertThat(main.stream().filter(each -> changingBooleans(each) > 3).map(JavaClass::getName))
                .isEmpty();
    }

    private static long changingBooleans(JavaClass type) {
        return type.getFields().stream()
                .filter(field -> field.getRawType().isEquivalentTo(boolean.class))
                .filter(field -> !field.getModifiers().contains(JavaModifier.FINAL))
                .count();
    }

    @Test
    void namesOfTestsAreSentences() {
        methods()
                .that(describe("are tests", ArchitectureTest::isTest))
                .should()
                .haveNameMatching("(?!test[A-Z_])[a-z][a-z0-9]*([A-Z][a-zA-Z0-9]*)+")
                .because("a test's name is a sentence in camelCase, such as aPeerMayCutItsBytesAnywhere")
                .check(tests);
    }

    @Test
    void noTwoClassesShareASimpleName() {
        assertThat(topLevel(main, tests)).extracting(JavaClass::getSimpleName).doesNotHaveDuplicates();
    }

    /** A test of class X is XTest or XPropertyTest. */
    @Test
    void aTestIsInThePackageOfTheClassThatItTests() {
        Map<String, String> packages =
                topLevel(main).collect(Collectors.toMap(JavaClass::getSimpleName, JavaClass::getPackageName));
        assertThat(topLevel(tests)
                        .filter(test -> !test.getPackageName()
                                .equals(packages.getOrDefault(tested(test), test.getPackageName()))))
                .isEmpty();
    }

    private static String tested(JavaClass test) {
        return test.getSimpleName().replaceFirst("(Property)?Test$", "");
    }

    private static Stream<JavaClass> topLevel(JavaClasses... classes) {
        return Arrays.stream(classes)
                .flatMap(JavaClasses::stream)
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"));
    }

    /** The Javadoc is made without module-info, so what is hidden is named again. */
    @Test
    void javadocLeavesOutThePackagesThatAreNotExported() throws IOException, URISyntaxException {
        Matcher excluded = Pattern.compile("<excludePackageNames>(.*)</excludePackageNames>")
                .matcher(Files.readString(Path.of("src/build/parent/pom.xml")));
        assertThat(excluded.find()).isTrue();
        Set<String> hidden = main.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
        hidden.removeAll(Set.of(exportedPackages()));

        assertThat(excluded.group(1)).isEqualTo("dev.zmtp.internal.*");
        assertThat(hidden).isNotEmpty().allMatch(each -> each.startsWith("dev.zmtp.internal."));
    }

    private static String[] and(String[] some, String... more) {
        return Stream.of(some, more).flatMap(Arrays::stream).toArray(String[]::new);
    }

    private void dependOnNone(String lower, String... uppers) {
        noClasses()
                .that()
                .resideInAPackage(lower)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(uppers)
                .allowEmptyShould(true)
                .check(main);
    }

    private static boolean isTest(JavaMember member) {
        return member.isMetaAnnotatedWith(Testable.class);
    }

    /** Read from the module descriptor, so that a package exported later is under the rule at once. */
    private static String[] exportedPackages() throws URISyntaxException {
        Path classes = Path.of(ZMTPVersion.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        return ModuleFinder.of(classes).find("dev.zmtp").orElseThrow().descriptor().exports().stream()
                .map(ModuleDescriptor.Exports::source)
                .toArray(String[]::new);
    }

    /** Peers could choose bytes with one hash code, which would make of a table a list that each lookup walks along. */
    @Test
    void noTableIsHashedByBytes() {
        Set<String> bytes = Set.of(ByteBuf.class.getName(), ByteBuffer.class.getName());
        Set<String> sorted = Set.of(
                SortedMap.class.getName(),
                NavigableMap.class.getName(),
                SortedSet.class.getName(),
                NavigableSet.class.getName());
        List<String> hashed = main.stream()
                .flatMap(type -> type.getFields().stream())
                .filter(field -> field.getRawType().isAssignableTo(Map.class)
                        || field.getRawType().isAssignableTo(Set.class))
                .filter(field -> field.getType() instanceof JavaParameterizedType table
                        && bytes.contains(table.getActualTypeArguments().get(0).getName()))
                .filter(field -> !sorted.contains(field.getRawType().getName()))
                .map(JavaField::getFullName)
                .toList();
        assertThat(hashed).isEmpty();
    }

    /** The application may have released it, too, which must not stop the bookkeeping that this is a part of. */
    @Test
    void socketsReleaseMessagesWithoutAnException() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.zmtp.internal.socket..", "dev.zmtp.internal.proxy..")
                .and()
                .doNotHaveSimpleName("InprocHandler") // whose messages nobody else has
                .and()
                .doNotHaveSimpleName("Waiting")
                .and()
                .areNotAssignableTo(Routing.class) // whose callers tell the sender
                .should()
                .callMethod(ZMTPMessage.class, "release")
                .check(main);
    }
}
