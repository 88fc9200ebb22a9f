package dev.zmtp;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.zmtp.ArchitectureTest.ADMISSION;
import static dev.zmtp.ArchitectureTest.CODEC;
import static dev.zmtp.ArchitectureTest.CONNECTION;
import static dev.zmtp.ArchitectureTest.HANDSHAKE;
import static dev.zmtp.ArchitectureTest.INSIDE_CODEC;
import static dev.zmtp.ArchitectureTest.INSIDE_SOCKET;
import static dev.zmtp.ArchitectureTest.INSIDE_WEBSOCKET;
import static dev.zmtp.ArchitectureTest.PROXY;
import static dev.zmtp.ArchitectureTest.READ;
import static dev.zmtp.ArchitectureTest.TRAFFIC;
import static dev.zmtp.ArchitectureTest.WEBSOCKET;
import static dev.zmtp.ArchitectureTest.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.channel.ChannelHandler;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The arrows between the hidden packages of the codec, its rooms, and the circles among its classes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // as ArchitectureTest
class RoomsTest {

    private static final String FLIGHT = "dev.zmtp.internal.socket.flight";
    private static final String CONTEXT = "dev.zmtp.internal.socket.context";
    private static final String PEER = "dev.zmtp.internal.socket.peer";
    private static final String ENDPOINT = "dev.zmtp.internal.socket.endpoint";
    private static final String SEND = "dev.zmtp.internal.socket.send";
    private static final String RECEIVE = "dev.zmtp.internal.socket.receive";
    private static final String PUBLISH = "dev.zmtp.internal.socket.publish";
    private static final String REQUEST = "dev.zmtp.internal.socket.request";

    /**
     * One more than the largest has, which is a config, its builder, and the factories for a session, which has the
     * config. So a new setting may bring a type, and a second circle that joins the first is noticed.
     */
    private static final int MOST_IN_A_CIRCLE = 12;

    private final JavaClasses main =
            new ClassFileImporter().withImportOption(new DoNotIncludeTests()).importPackages("dev.zmtp");

    /** The order of a connection's life, read backwards: a phase makes only later ones, and those are below it. */
    @Test
    void roomsPointDownOnly() {
        dependOnNone(TRAFFIC, HANDSHAKE);
        dependOnNone(READ, HANDSHAKE, TRAFFIC, WRITE);
        dependOnNone(WRITE, HANDSHAKE, TRAFFIC, READ);
        dependOnNone(CONNECTION, HANDSHAKE, TRAFFIC, READ, WRITE);
        dependOnNone(ADMISSION, HANDSHAKE, TRAFFIC, READ, WRITE, CONNECTION);
    }

    @Test
    void onlyTheRoomAboveKnowsTraffic() {
        onlyHaveDependentsIn(TRAFFIC, HANDSHAKE);
    }

    @Test
    void onlyTrafficKnowsBothOfItsDirections() {
        onlyHaveDependentsIn(READ, TRAFFIC);
        onlyHaveDependentsIn(WRITE, TRAFFIC);
    }

    @Test
    void onlyTheHandlerKnowsTheHandshake() {
        noClasses()
                .that()
                .resideOutsideOfPackage(HANDSHAKE)
                .and()
                .doNotBelongToAnyOf(ZMTPCodec.class)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(HANDSHAKE)
                .check(main);
    }

    /** The handler makes a connection and tells it what Netty reports; to ask the handler back would be a circle. */
    @Test
    void roomsKnowNoHandlerOfUsers() {
        noClasses()
                .that()
                .resideInAnyPackage(INSIDE_CODEC)
                .should()
                .dependOnClassesThat(resideInAnyPackage(CODEC).and(assignableTo(ChannelHandler.class)))
                .check(main);
    }

    @Test
    void onlyAFewExportedTypesKnowTheRooms() {
        noClasses()
                .that()
                .resideOutsideOfPackages(INSIDE_CODEC)
                .and()
                .haveNameNotMatching(
                        "dev\\.zmtp\\.codec\\.ZMTP(Codec|Session|Handshake|HandshakeSuccess"
                                + "|HandshakeFailure|MemoryBudget|Limiter|ConnectionLimiter|HandshakeLimiter|SizeEstimator)(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(INSIDE_CODEC)
                .check(main);
    }

    /** What is in a room may move, and operators have its name in their configuration. */
    @Test
    void loggersAreNamedInWords() {
        noClasses()
                .that()
                .resideInAnyPackage(INSIDE_CODEC)
                .or()
                .resideInAnyPackage(INSIDE_SOCKET, PROXY)
                .should()
                .callMethod(InternalLoggerFactory.class, "getInstance", Class.class)
                .check(main);
    }

    /**
     * What completes a future runs user code, which may lead to the next: {@code Completions} has the bound for that. The
     * others are the futures themselves, what a read completes, and what happens once to an endpoint or a socket.
     */
    @Test
    void futuresOfSocketsCompleteInOnePlace() {
        noClasses()
                .that()
                .resideInAnyPackage(INSIDE_SOCKET)
                .and()
                .haveSimpleNameNotContaining("Completions")
                .and()
                .areNotAssignableTo(CompletableFuture.class)
                .and()
                .doNotHaveSimpleName("Requests")
                .and()
                .doNotHaveSimpleName("Closing")
                .and()
                .resideOutsideOfPackage(ENDPOINT)
                .should()
                .callMethodWhere(target(nameMatching("complete|completeExceptionally"))
                        .and(target(owner(assignableTo(CompletableFuture.class)))))
                .check(main);
    }

    @Test
    void roomsFormNoCycle() {
        slices().matching("dev.zmtp.internal.(*)..").should().beFreeOfCycles().check(main);
    }

    /** A class of a circle cannot be understood, or changed, without the rest of it. */
    @Test
    void circlesOfClassesStaySmall() {
        String[] codec =
                Stream.concat(Stream.of(CODEC), Stream.of(INSIDE_CODEC)).toArray(String[]::new);

        assertThat(ClassCircles.in(main, codec))
                .isNotEmpty()
                .allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(MOST_IN_A_CIRCLE));
    }

    /** It stands before the codec, which knows nothing of it, as it knows nothing of TLS. */
    @Test
    void onlySocketsKnowTheTranslatorOfWebSocket() {
        noClasses()
                .that()
                .resideOutsideOfPackages(INSIDE_WEBSOCKET, WEBSOCKET, INSIDE_SOCKET)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(INSIDE_WEBSOCKET)
                .check(main);
    }

    @Test
    void theTranslatorOfWebSocketKnowsTheCodecAsItsUsersDo() {
        dependOnNone(INSIDE_WEBSOCKET, INSIDE_CODEC);
    }

    // The rooms of the sockets

    @Test
    void theContextOfASocketKnowsTheFlightRecorderAlone() {
        knowsOnly(CONTEXT, FLIGHT);
    }

    @Test
    void theFlightRecorderKnowsNoRoom() {
        knowsOnly(FLIGHT);
    }

    @Test
    void aPeerKnowsItsContext() {
        knowsOnly(PEER, CONTEXT, FLIGHT);
    }

    @Test
    void anEndpointKnowsItsPeers() {
        knowsOnly(ENDPOINT, PEER, CONTEXT, FLIGHT);
    }

    @Test
    void sendingKnowsPeersAndNoEndpoint() {
        knowsOnly(SEND, PEER, CONTEXT, FLIGHT);
    }

    @Test
    void receivingKnowsPeersAndNotSending() {
        knowsOnly(RECEIVE, PEER, CONTEXT, FLIGHT);
    }

    @Test
    void publishingIsAWayToSendAndToReceive() {
        knowsOnly(PUBLISH, SEND, RECEIVE, PEER, CONTEXT, FLIGHT);
    }

    @Test
    void requestsAreSentAndReceived() {
        knowsOnly(REQUEST, SEND, RECEIVE, PEER, CONTEXT, FLIGHT);
    }

    @Test
    void noCircleOfClassesSpansTwoRoomsOfTheSockets() {
        assertThat(ClassCircles.in(main, INSIDE_SOCKET))
                .isNotEmpty()
                .allSatisfy(circle -> assertThat(circle)
                        .extracting(RoomsTest::room)
                        .containsOnly(room(circle.iterator().next())));
    }

    private static String room(String type) {
        return type.substring(0, type.lastIndexOf('.'));
    }

    private void knowsOnly(String room, String... lower) {
        noClasses()
                .that()
                .resideInAPackage(room)
                .should()
                .dependOnClassesThat(resideInAPackage(INSIDE_SOCKET)
                        .and(not(resideInAPackage(room).or(resideInAnyPackage(lower)))))
                .check(main);
    }

    private void onlyHaveDependentsIn(String lower, String upper) {
        classes()
                .that()
                .resideInAPackage(lower)
                .should()
                .onlyHaveDependentClassesThat()
                .resideInAnyPackage(lower, upper)
                .check(main);
    }

    private void dependOnNone(String lower, String... uppers) {
        noClasses()
                .that()
                .resideInAPackage(lower)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(uppers)
                .check(main);
    }
}
