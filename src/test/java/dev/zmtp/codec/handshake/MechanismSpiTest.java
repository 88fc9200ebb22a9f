package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.ToyMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A mechanism with the shape of PLAIN and CURVE works through the SPI, from the first command to the last frame. */
class MechanismSpiTest {

    private static final ToyMechanism.Asked YES = (password, yes) -> yes.run();
    private static final ToyMechanism.Asked NEVER = (password, yes) -> {};

    private static final String TOY = "\"TOY\" 00*17 00 00*31 ";
    private static final String METADATA = "0b \"Socket-Type\" 00000006 \"DEALER\"";

    private final List<ToyMechanism> made = new ArrayList<>();

    private ZMTPConfig.Builder client(ZMTPSocketType type) {
        return ZMTPConfig.builder().socketType(type).mechanism(context -> keep(ToyMechanism.client(context, "open")));
    }

    private ZMTPConfig.Builder server(ZMTPSocketType type, ToyMechanism.Asked asked) {
        return ZMTPConfig.builder().socketType(type).mechanism(context -> keep(ToyMechanism.server(context, asked)));
    }

    private ZMTPMechanism keep(ToyMechanism mechanism) {
        made.add(mechanism);
        return mechanism;
    }

    private static CodecPair joined(ZMTPConfig.Builder left, ZMTPConfig.Builder right) {
        return new CodecPair(ZMTPCodec.from(left.build()), ZMTPCodec.from(right.build()));
    }

    /** A scripted client of our server, after the greetings. */
    private ScriptedPeer greeted(ZMTPConfig.Builder config) {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build())).send(SIGNATURE + "03 01 " + TOY);
        peer.received();
        return peer;
    }

    /** A scripted client of our ROUTER, after the handshake. */
    private ScriptedPeer ready() {
        ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, YES));
        peer.send(command("05 \"HELLO\" \"open\""));
        peer.send(command("08 \"INITIATE\" " + METADATA));
        peer.onlyEvent(ZMTPHandshakeSuccess.class);
        peer.received();
        return peer;
    }

    private static String sealed(int flags, String body) {
        String hex = ByteBufUtil.hexDump(ToyMechanism.sealed(flags, body));
        return "00 %02x ".formatted(hex.length() / 2) + hex + " ";
    }

    private void assertClosedOnce() {
        assertThat(made).allSatisfy(mechanism -> assertThat(mechanism.closed).hasValue(1));
    }

    @Test
    void theGreetingNamesTheMechanismAndTheServer() {
        try (ScriptedPeer peer = new ScriptedPeer(
                        ZMTPCodec.from(server(ZMTPSocketType.ROUTER, YES).build()))
                .send(SIGNATURE + "03")) {
            assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE + "03 01 \"TOY\" 00*17 01 00*31"));
        }
    }

    @Test
    void eachCommandIsSentInItsTurn() {
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, YES).localIdentity("me"))) {
            assertThat(peer.received()).isEmpty();
            peer.send(command("05 \"HELLO\" \"open\""));
            assertThat(peer.received()).isEqualTo(Hex.of("04 08 07 \"WELCOME\""));
            peer.send(command("08 \"INITIATE\" " + METADATA));
            assertThat(peer.received()).isEqualTo(Hex.of("""
                    04 2b 05 "READY" 0b "Socket-Type" 00000006 "ROUTER" 08 "Identity" 00000002 "me"
                    """));
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.mechanism()).isEqualTo("TOY");
            assertThat(handshake.remoteSocketType()).isEqualTo(ZMTPSocketType.DEALER);
        }
    }

    @Test
    void twoSidesShakeHandsAndTalk() {
        try (CodecPair peers = joined(client(ZMTPSocketType.DEALER), server(ZMTPSocketType.ROUTER, YES))
                .exchange()) {
            assertThat(peers.left.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            ZMTPMessage sent = ZMTPMessage.fromUTF8("a", "", "c".repeat(70_000));
            peers.left.channel.writeAndFlush(sent.retain());
            peers.right.channel.writeAndFlush(sent.retain());
            peers.exchange();
            assertThat(peers.left.messages).containsExactly(sent);
            assertThat(peers.right.messages).containsExactly(sent);
            peers.left.messages.forEach(ReferenceCountUtil::release);
            peers.right.messages.forEach(ReferenceCountUtil::release);
            sent.release();
        }
        assertClosedOnce();
    }

    @Test
    void aLargeSealedMessageCountsInWritability() {
        try (CodecPair peers = joined(client(ZMTPSocketType.DEALER), server(ZMTPSocketType.ROUTER, YES))
                .exchange()) {
            ChannelFuture written = peers.left.channel.write(ZMTPMessage.fromUTF8("c".repeat(200_000)));
            assertThat(peers.left.channel.isWritable()).isFalse();
            peers.left.channel.flush();
            assertThat(written.isSuccess()).isTrue();
            peers.exchange();
            peers.right.messages.forEach(ReferenceCountUtil::release);
        }
    }

    @Test
    void anAnswerMayComeLaterFromAnotherThread() throws InterruptedException {
        List<Runnable> answers = new ArrayList<>();
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, (password, yes) -> answers.add(yes)))) {
            peer.send(command("05 \"HELLO\" \"open\""));
            peer.channel.runPendingTasks();
            assertThat(peer.received()).isEmpty();
            Thread other = new Thread(answers.get(0));
            other.start();
            other.join();
            assertThat(peer.received()).isEmpty();
            peer.channel.runPendingTasks();
            assertThat(peer.received()).isEqualTo(Hex.of("04 08 07 \"WELCOME\""));
            peer.send(command("08 \"INITIATE\" " + METADATA));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void anAnswerAfterTheEndIsIgnored() {
        List<Runnable> answers = new ArrayList<>();
        ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, (password, yes) -> answers.add(yes)));
        peer.send(command("05 \"HELLO\" \"open\""));
        peer.channel.close();
        answers.get(0).run();
        peer.channel.runPendingTasks();
        assertThat(peer.received()).isEmpty();
        assertThat(peer.events).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
        peer.close();
        assertClosedOnce();
    }

    @Test
    void theHandshakeTimeoutIncludesTheAnswer() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel
                .pipeline()
                .addFirst(ZMTPCodec.from(server(ZMTPSocketType.ROUTER, NEVER).build()));
        peer.send(SIGNATURE + "03 01 " + TOY + command("05 \"HELLO\" \"open\""));
        peer.channel.advanceTimeBy(30, TimeUnit.SECONDS);
        peer.channel.runScheduledPendingTasks();
        assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        peer.close();
        assertClosedOnce();
    }

    @Test
    void theMechanismRefusesACommandOutOfTurn() {
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, NEVER))) {
            peer.send(command("05 \"HELLO\" \"open\"") + command("08 \"INITIATE\" " + METADATA));
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.UNEXPECTED);
        }
        assertClosedOnce();
    }

    @Test
    void aMechanismMayRefuseWithoutAnError() {
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.PUB, YES))) {
            peer.send(command("05 \"HELLO\" \"open\""));
            peer.received();
            peer.send(command("08 \"INITIATE\" " + METADATA));
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
            assertThat(peer.received()).isEmpty();
        }
        assertClosedOnce();
    }

    @Test
    void anOrdinaryExceptionOfAMechanismFailsTheHandshake() {
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, (password, yes) -> {
            throw new IllegalStateException("no database");
        }))) {
            peer.send(command("05 \"HELLO\" \"open\""));
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasRootCauseInstanceOf(IllegalStateException.class);
            assertThat(peer.channel.isOpen()).isFalse();
        }
        assertClosedOnce();
    }

    /** The authenticator decides during the call, or later. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatAMechanismThrowsAtADecisionFailsTheHandshake(boolean atOnce) {
        CompletableFuture<ZMTPAuthDecision> decision = new CompletableFuture<>();
        if (atOnce) {
            decision.complete(ZMTPAuthDecision.deny("unknown"));
        }
        ZMTPConfig.Builder config = ZMTPConfig.builder()
                .socketType(ZMTPSocketType.ROUTER)
                .authenticator(request -> decision)
                .mechanism(context -> keep(ToyMechanism.server(
                        context,
                        (password, yes) -> context.authenticate("TOY", ByteBuffer.allocate(0), List.of(), made -> {
                            throw new ZMTPException(ZMTPException.Code.AUTHENTICATION, "refused: " + made.status());
                        }))));
        try (ScriptedPeer peer = greeted(config)) {
            peer.send(command("05 \"HELLO\" \"open\""));
            decision.complete(ZMTPAuthDecision.deny("unknown"));
            peer.channel.runPendingTasks();

            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.AUTHENTICATION);
            assertThat(peer.channel.isOpen()).isFalse();
        }
        assertClosedOnce();
    }

    static List<Arguments> oldPeers() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            for (String theirs : List.of(SIGNATURE + "01 05 00 00", SIGNATURE + "00 05 01 00", "01 00")) {
                all.add(Arguments.of(protocol, theirs));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("oldPeers")
    void noPeerRemovesTheMechanismByPretendingToBeOld(ZMTPVersion protocol, String theirs) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel
                .pipeline()
                .addFirst(ZMTPCodec.from(
                        server(ZMTPSocketType.ROUTER, YES).protocol(protocol).build()));
        peer.send(theirs);
        assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
        assertThat(failureOf(peer)).hasMessageContaining("ZMTP30 or later with TOY");
        peer.close();
        assertClosedOnce();
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPVersion.class,
            names = {"ZMTP30", "ZMTP31"})
    void aPeerWithoutTheMechanismIsRefused(ZMTPVersion protocol) {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(
                server(ZMTPSocketType.ROUTER, YES).protocol(protocol).build()))) {
            peer.send(ScriptedPeer.GREETING + ScriptedPeer.ready("DEALER"));
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MECHANISM);
        }
        assertClosedOnce();
    }

    @Test
    void framesAreSentSealedAndWithoutTheirFlags() {
        try (ScriptedPeer peer = ready()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a", "b"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 03 5a fe 9e / 00 03 5a ff 9d"));
        }
    }

    @Test
    void sealedFramesMayBeCutAnywhere() {
        byte[] bytes = Hex.bytes(sealed(1, "61") + sealed(0, "62") + sealed(0, "\"hi\""));
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = ready()) {
                peer.send(bytes, split);
                assertThat(peer.messages).containsExactly(Fired.message("a", "b"), Fired.message("hi"));
            }
        }
    }

    @Test
    void aLongFrameIsSealedInALongFrame() {
        try (ScriptedPeer peer = ready()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a".repeat(254)));
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*6 01 00 5a ff 9e*254"));
        }
    }

    @Test
    void aFrameThatIsNotSealedIsRefused() {
        try (ScriptedPeer peer = ready().send("00 02 \"hi\" 00 02 \"hi\"")) {
            Failures.assertFailed(peer, ZMTPException.Code.MALFORMED);
            assertThat(peer.messages).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"10, true", "11, false"})
    void theFrameLimitAppliesToTheOpenedBody(int length, boolean accepted) {
        ZMTPConfig.Builder config =
                server(ZMTPSocketType.ROUTER, YES).maxFrameLength(10).maxCommandLength(10);
        try (ScriptedPeer peer = greeted(config)) {
            peer.send(command("05 \"HELLO\" \"open\""));
            peer.send(command("08 \"INITIATE\" " + METADATA));
            peer.send(sealed(0, "61*" + length));
            assertThat(peer.messages).hasSize(accepted ? 1 : 0);
            assertThat(peer.failures).hasSize(accepted ? 0 : 1);
        }
    }

    @ParameterizedTest
    @CsvSource({"0c, false", "0d, true"})
    void aSealedFrameThatIsTooLongIsRefusedAtItsHeader(String length, boolean refused) {
        ZMTPConfig.Builder config =
                server(ZMTPSocketType.ROUTER, YES).maxFrameLength(10).maxCommandLength(10);
        try (ScriptedPeer peer = greeted(config)) {
            peer.send(command("05 \"HELLO\" \"open\""));
            peer.send(command("08 \"INITIATE\" " + METADATA));
            peer.send("00 " + length);
            assertThat(peer.failures).hasSize(refused ? 1 : 0);
        }
    }

    @Test
    void aSealedFrameOfAnUnfinishedMessageKeepsNoReadBuffer() {
        try (ScriptedPeer peer = ready()) {
            ByteBuf read = peer.channel.alloc().buffer(65536);
            read.writeBytes(Hex.bytes("02 00*6 07 d2"));
            read.writeBytes(ToyMechanism.sealed(1, "61*2000"));
            peer.channel.writeInbound(read);
            assertThat(read.refCnt()).isZero();
            peer.send(sealed(0, "62"));
            assertThat(peer.messages).containsExactly(Fired.message("a".repeat(2000), "b"));
        }
    }

    @Test
    void aPingIsAnsweredThroughTheCipherAndBetweenFrames() {
        try (ScriptedPeer peer = ready()) {
            peer.send(sealed(1, "61") + sealed(4, "04 \"PING\" 0000 \"ctx\"") + sealed(0, "62"));
            assertThat(peer.received()).isEqualTo(Hex.of(sealed(4, "04 \"PONG\" \"ctx\"")));
            assertThat(peer.messages).containsExactly(Fired.message("a", "b"));
        }
    }

    @Test
    void aSubscriptionIsSealed() {
        try (CodecPair peers = joined(client(ZMTPSocketType.SUB), server(ZMTPSocketType.PUB, YES))
                .exchange()) {
            peers.left.channel.writeAndFlush(ZMTPSubscription.subscribe("AB"));
            peers.left.channel.writeAndFlush(ZMTPSubscription.cancel("AB"));
            peers.exchange();
            assertThat(peers.right.messages)
                    .containsExactly(ZMTPSubscription.subscribe("AB"), ZMTPSubscription.cancel("AB"));
        }
    }

    @Test
    void aSubscriptionAsAMessageIsSealed() {
        try (CodecPair peers = joined(
                        client(ZMTPSocketType.SUB).protocol(ZMTPVersion.ZMTP30), server(ZMTPSocketType.PUB, YES))
                .exchange()) {
            peers.left.channel.writeAndFlush(ZMTPSubscription.subscribe("AB"));
            peers.exchange();
            assertThat(peers.right.messages).containsExactly(ZMTPSubscription.subscribe("AB"));
        }
    }

    @Test
    void messagesToASendOnlySocketAreDroppedAfterTheCipherToo() {
        try (CodecPair peers = joined(client(ZMTPSocketType.PULL), server(ZMTPSocketType.PUSH, YES))
                .exchange()) {
            peers.left.channel.writeAndFlush(ZMTPMessage.fromUTF8("a", "b"));
            peers.exchange();
            assertThat(peers.right.messages).isEmpty();
            assertThat(peers.right.failures).isEmpty();
        }
    }

    @Test
    void ourPingIsSealed() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        ZMTPConfig.Builder config = server(ZMTPSocketType.ROUTER, YES).heartbeatInterval(Duration.ofSeconds(1));
        peer.channel.pipeline().addFirst(ZMTPCodec.from(config.build()));
        peer.send(SIGNATURE + "03 01 " + TOY + command("05 \"HELLO\" \"open\""));
        peer.send(command("08 \"INITIATE\" " + METADATA));
        peer.received();
        peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
        peer.channel.runScheduledPendingTasks();
        assertThat(peer.received()).isEqualTo(Hex.of(sealed(4, "04 \"PING\" 0000")));
        peer.close();
    }

    @Test
    void aCustomTypeIsSealed() {
        ZMTPConfig.Builder left = client(ZMTPSocketType.DEALER).encoder(Joined.class);
        ZMTPConfig.Builder right = server(ZMTPSocketType.ROUTER, YES).decoder(Split.class);
        try (CodecPair peers = joined(left, right).exchange()) {
            peers.left.channel.writeAndFlush("one,two," + "3".repeat(300));
            peers.exchange();
            assertThat(peers.right.messages).containsExactly("one|two|" + "3".repeat(300) + "|");
        }
        assertClosedOnce();
    }

    @Test
    void removalDuringTheHandshakeClosesTheMechanism() {
        try (ScriptedPeer peer = greeted(server(ZMTPSocketType.ROUTER, NEVER))) {
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertClosedOnce();
        }
        assertClosedOnce();
    }

    @Test
    void removalInTrafficClosesTheMechanism() {
        try (ScriptedPeer peer = ready()) {
            assertThat(made.get(0).closed).hasValue(0);
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertClosedOnce();
        }
        assertClosedOnce();
    }

    @Test
    void theEndOfTheConnectionClosesTheMechanism() {
        try (ScriptedPeer peer = ready()) {
            peer.channel.close();
            assertClosedOnce();
        }
        assertClosedOnce();
    }

    /** Writes the parts of a string as frames. */
    static final class Joined implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(((String) message).length());
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            List<String> parts = List.of(((String) message).split(",", -1));
            for (int i = 0; i < parts.size(); i++) {
                byte[] bytes = parts.get(i).getBytes(StandardCharsets.US_ASCII);
                writer.frame(bytes.length, i < parts.size() - 1).writeBytes(bytes);
            }
        }

        @Override
        public void close() {}
    }

    /** Reads frames as the parts of a string. */
    static final class Split implements ZMTPDecoder {
        private final StringBuilder text = new StringBuilder();
        private long length;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            this.length = length;
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            if (data.readableBytes() == length) {
                text.append(data.readCharSequence((int) length, StandardCharsets.US_ASCII))
                        .append('|');
            }
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            out.add(text.toString());
        }

        @Override
        public void close() {}
    }
}
