package dev.zmtp.zap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is asked of a ZAP handler, and what its answers mean (RFC 27). The handler is a REP: it echoes the delimiter.
 */
class ZMTPZapClientTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int MAX_PENDING = 10_000;

    private static final ZMTPAuthDecision ENDED =
            ZMTPAuthDecision.temporaryFailure("the connection to the ZAP handler has ended");
    private static final ZMTPAuthDecision NOT_CONNECTED =
            ZMTPAuthDecision.temporaryFailure("no ZAP handler is connected");
    private static final ZMTPAuthDecision LATE =
            ZMTPAuthDecision.temporaryFailure("the ZAP handler did not reply in time");

    private final ZMTPZapClient zap = new ZMTPZapClient(TIMEOUT, 0);

    private ScriptedPeer connected() {
        return InTraffic.as(ZMTPSocketType.DEALER)
                .peer(ZMTPSocketType.REP)
                .after(zap)
                .start();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ZMTPAuthRequest request(SocketAddress from, String mechanism, ByteBuffer... credentials) {
        return new ZMTPAuthRequest("services", from, bytes("me"), mechanism, List.of(credentials), List.of(), null);
    }

    private static SocketAddress address(String host) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), 5555);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static ZMTPAuthRequest nobody() {
        return request(address("192.0.2.7"), ZMTPNull.NAME);
    }

    private CompletableFuture<ZMTPAuthDecision> ask(ScriptedPeer connection, ZMTPAuthRequest request) {
        CompletableFuture<ZMTPAuthDecision> answer = zap.authenticate(request).toCompletableFuture();
        connection.channel.runPendingTasks();
        return answer;
    }

    /** A message of these frames; each is spelled in hex. */
    private static String message(String... frames) {
        StringBuilder message = new StringBuilder();
        for (int i = 0; i < frames.length; i++) {
            message.append(
                    "%02x %02x %s ".formatted(i < frames.length - 1 ? 1 : 0, Hex.bytes(frames[i]).length, frames[i]));
        }
        return message.toString();
    }

    private static String reply(String id, String status) {
        return message("", "\"1.0\"", '"' + id + '"', '"' + status + '"', "\"why\"", "", "");
    }

    @Test
    void aRequestForPlainHasTheUserNameAndThePassword() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, request(address("127.0.0.1"), ZMTPPlain.NAME, bytes("admin"), bytes("secret")));

            assertThat(connection.received()).isEqualTo(Hex.of("""
                    01 00               # delimiter
                    01 03 "1.0"         # version
                    01 01 "1"           # request id
                    01 08 "services"    # domain
                    01 09 "127.0.0.1"   # address
                    01 02 "me"          # identity
                    01 05 "PLAIN"       # mechanism
                    01 05 "admin"       # user name
                    00 06 "secret"      # password
                    """));
        }
    }

    @Test
    void aRequestForCurveHasThePublicKey() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, request(address("2001:db8::7"), ZMTPCurve.NAME, ByteBuffer.wrap(new byte[32])));

            assertThat(connection.received()).isEqualTo(Hex.of("""
                    01 00               # delimiter
                    01 03 "1.0"         # version
                    01 01 "1"           # request id
                    01 08 "services"    # domain
                    01 0b "2001:db8::7" # address, as handlers write it in their lists
                    01 02 "me"          # identity
                    01 05 "CURVE"       # mechanism
                    00 20 00*32         # C
                    """));
        }
    }

    @Test
    void aRequestWithoutCredentialsEndsWithTheMechanism() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, new ZMTPAuthRequest("", null, bytes(""), ZMTPNull.NAME, List.of(), List.of(), null));

            assertThat(connection.received()).isEqualTo(Hex.of("""
                    01 00               # delimiter
                    01 03 "1.0"         # version
                    01 01 "1"           # request id
                    01 00               # domain
                    01 00               # address
                    01 00               # identity
                    00 04 "NULL"        # mechanism
                    """));
        }
    }

    @Test
    void anAddressThatIsNotAnIpAddressIsSentAsText() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, request(connection.channel.remoteAddress(), ZMTPNull.NAME));

            assertThat(connection.received()).contains(Hex.of("01 08 \"embedded\""));
        }
    }

    @Test
    void anAddressWithoutAnIpAddressIsSentAsText() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, request(InetSocketAddress.createUnresolved("peer.example", 7), ZMTPNull.NAME));

            assertThat(connection.received()).contains(Hex.of("\"peer.example\""));
        }
    }

    @Test
    void aPasswordMayBeWipedAfterTheCall() {
        try (ScriptedPeer connection = connected()) {
            byte[] password = {'a', 'b', 'c'};
            zap.authenticate(request(address("::1"), ZMTPPlain.NAME, bytes("admin"), ByteBuffer.wrap(password)));
            Arrays.fill(password, (byte) 0);
            connection.channel.runPendingTasks();

            assertThat(connection.received()).endsWith(Hex.of("00 03 \"abc\""));
        }
    }

    @Test
    void anAcceptedPeerHasAUserIdAndMetadata() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            assertThat(answer).isNotDone();
            connection.send(
                    message("", "\"1.0\"", "\"1\"", "\"200\"", "\"OK\"", "\"alice\"", "05 \"Group\" 00000003 \"ops\""));

            assertThat(answer)
                    .isCompletedWithValue(ZMTPAuthDecision.accept("alice", ZMTPMetadata.EMPTY.with("Group", "ops")));
            assertThat(connection.messages).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"300, TEMPORARY_FAILURE", "400, DENIED", "500, ERROR"})
    void aRefusalHasTheStatusOfTheReply(String code, ZMTPAuthDecision.Status status) {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(reply("1", code));

            assertThat(answer).isCompletedWithValue(new ZMTPAuthDecision(status, "why", "", ZMTPMetadata.EMPTY));
        }
    }

    @Test
    void repliesMayComeInAnyOrder() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> first = ask(connection, nobody());
            CompletableFuture<ZMTPAuthDecision> second = ask(connection, nobody());
            connection.send(reply("2", "400"));
            assertThat(first).isNotDone();
            connection.send(reply("1", "500"));

            assertThat(second).isCompletedWithValue(ZMTPAuthDecision.deny("why"));
            assertThat(first).isCompletedWithValue(ZMTPAuthDecision.error("why"));
        }
    }

    @ParameterizedTest
    @CsvSource({"256, ACCEPTED", "257, TEMPORARY_FAILURE"})
    void anAcceptanceMayHave256Properties(int properties, ZMTPAuthDecision.Status status) {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            byte[] metadata = Hex.bytes("01 \"p\" 00*4 ".repeat(properties));
            connection.send(message("", "\"1.0\"", "\"1\"", "\"200\"", "", "\"alice\"")
                            .replaceFirst("00 05 \"alice\"", "01 05 \"alice\"")
                    + "02 %016x ".formatted(metadata.length)
                    + ByteBufUtil.hexDump(metadata));

            assertThat(answer).isCompleted();
            assertThat(answer.join().status()).isEqualTo(status);
        }
    }

    private void assertTemporaryFailure(String reply, String what) {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(reply);

            assertThat(answer).isCompleted();
            assertThat(answer.join().status()).isEqualTo(ZMTPAuthDecision.Status.TEMPORARY_FAILURE);
            assertThat(answer.join().text()).startsWith("malformed ZAP reply: " + what);
            assertThat(connection.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aReplyOfSixFramesIsATemporaryFailure() {
        assertTemporaryFailure(message("", "\"1.0\"", "\"1\"", "\"200\"", "", ""), "frames: 6 (expected: 7)");
    }

    @Test
    void aReplyOfEightFramesIsATemporaryFailure() {
        assertTemporaryFailure(message("", "\"1.0\"", "\"1\"", "\"200\"", "", "", "", ""), "frames: 8 (expected: 7)");
    }

    @Test
    void aReplyOfAnotherVersionIsATemporaryFailure() {
        assertTemporaryFailure(
                message("", "\"1.1\"", "\"1\"", "\"200\"", "", "", ""), "version: 312e31 (expected: 1.0)");
    }

    @Test
    void aReplyWithoutAnEmptyDelimiterIsATemporaryFailure() {
        assertTemporaryFailure(
                message("00", "\"1.0\"", "\"1\"", "\"200\"", "", "", ""), "delimiter: 00 (expected: empty)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"404", "20", "2000", "100", "600", "0", "2o0", "+200"})
    void aReplyOfAnotherStatusIsATemporaryFailure(String status) {
        assertTemporaryFailure(reply("1", status), "status: " + status + " (expected: 200, 300, 400 or 500)");
    }

    @Test
    void aReplyWithoutAStatusIsATemporaryFailure() {
        assertTemporaryFailure(
                message("", "\"1.0\"", "\"1\"", "", "", "", ""), "status:  (expected: 200, 300, 400 or 500)");
    }

    @Test
    void anAcceptanceWithMalformedMetadataIsATemporaryFailure() {
        assertTemporaryFailure(message("", "\"1.0\"", "\"1\"", "\"200\"", "", "\"alice\"", "05 \"Gro\""), "metadata: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"2\"", // asked nothing yet
                "\"0\"",
                "\"01\"",
                "\"-1\"",
                "\"one\"",
                "",
                "\"99999999999999999999\"", // no long
            })
    void aReplyWithoutARequestIsDroppedAndTheRightOneIsUsed(String id) {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(message("", "\"1.0\"", id, "\"200\"", "", "", ""));
            assertThat(answer).isNotDone();
            connection.send(reply("1", "400"));

            assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.deny("why"));
            assertThat(connection.messages).isEmpty();
        }
    }

    @Test
    void aReplyThatIsTooShortForARequestIdIsDropped() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(message("", "\"1.0\""));

            assertThat(answer).isNotDone();
            assertThat(connection.failures).isEmpty();
        }
    }

    @Test
    void aReplyThatEndsWithItsRequestIdIsATemporaryFailure() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(message("", "\"1.0\"", "\"1\""));

            assertThat(answer).isCompleted();
            assertThat(answer.join().status()).isEqualTo(ZMTPAuthDecision.Status.TEMPORARY_FAILURE);
        }
    }

    @Test
    void theSecondReplyToARequestIsDropped() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(reply("1", "400"));
            connection.send(reply("1", "200"));

            assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.deny("why"));
            assertThat(connection.failures).isEmpty();
        }
    }

    @Test
    void aLateReplyIsDropped() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.channel.advanceTimeBy(TIMEOUT.toMillis() - 1, TimeUnit.MILLISECONDS);
            connection.channel.runScheduledPendingTasks();
            assertThat(answer).isNotDone();
            connection.channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
            connection.channel.runScheduledPendingTasks();
            assertThat(answer).isCompletedWithValue(LATE);
            connection.send(reply("1", "200"));

            assertThat(connection.failures).isEmpty();
            CompletableFuture<ZMTPAuthDecision> next = ask(connection, nobody());
            connection.send(reply("2", "200"));
            assertThat(next).isCompletedWithValue(ZMTPAuthDecision.accept(""));
        }
    }

    @Test
    void aReplyCancelsItsTimeout() {
        try (ScriptedPeer connection = connected()) {
            ask(connection, nobody());
            connection.send(reply("1", "200"));

            assertThat(connection.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    @Test
    void withoutAConnectionTheDecisionIsMadeAtOnce() {
        assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
    }

    @Test
    void aConnectionIsNotUsedBeforeItsHandshake() {
        EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(ZMTPSocketType.DEALER), zap);
        channel.pipeline().fireUserEventTriggered("of something else");

        assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
        channel.finishAndReleaseAll();
    }

    @Test
    void aConnectionThatEndsCompletesAllItsRequests() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> first = ask(connection, nobody());
            CompletableFuture<ZMTPAuthDecision> second = ask(connection, nobody());
            CompletableFuture<ZMTPAuthDecision> notYetSent =
                    zap.authenticate(nobody()).toCompletableFuture();
            connection.channel.close();
            connection.channel.runPendingTasks();

            assertThat(first).isCompletedWithValue(ENDED);
            assertThat(second).isCompletedWithValue(ENDED);
            assertThat(notYetSent).isCompleted();
            assertThat(notYetSent.join().status()).isEqualTo(ZMTPAuthDecision.Status.TEMPORARY_FAILURE);
            assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
        }
    }

    @Test
    void removingTheClientFromItsPipelineEndsTheConnection() {
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.channel.pipeline().remove(zap);

            assertThat(answer).isCompletedWithValue(ENDED);
            assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
        }
    }

    @Test
    void theNextConnectionGetsTheNextRequests() {
        connected().close();
        try (ScriptedPeer connection = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            connection.send(reply("1", "200"));

            assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.accept(""));
        }
    }

    @Test
    void anOldConnectionThatEndsCompletesAllItsRequests() {
        try (ScriptedPeer old = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(old, nobody());
            try (ScriptedPeer next = connected()) {
                old.channel.close();
                assertThat(answer).isCompletedWithValue(ENDED);

                CompletableFuture<ZMTPAuthDecision> later = ask(next, nobody());
                next.send(reply("2", "200"));
                assertThat(later).isCompletedWithValue(ZMTPAuthDecision.accept(""));
            }
        }
    }

    /** A handler answers slowly, and to an identity. */
    @Test
    void aReplyToARequestOfTheLastConnectionIsNotThatToAnother() {
        try (ScriptedPeer old = connected()) {
            ask(old, nobody());
        }
        try (ScriptedPeer next = connected()) {
            CompletableFuture<ZMTPAuthDecision> another = ask(next, nobody());

            next.send(reply("1", "200"));
            assertThat(another).isNotDone();

            next.send(reply("2", "400"));
            assertThat(another).isCompletedWithValue(ZMTPAuthDecision.deny("why"));
        }
    }

    @Test
    void theFirstIdIsRandom() {
        ZMTPZapClient one = new ZMTPZapClient(TIMEOUT);
        ZMTPZapClient other = new ZMTPZapClient(TIMEOUT);

        assertThat(firstId(one)).isNotEqualTo(firstId(other));
    }

    private static String firstId(ZMTPZapClient client) {
        try (ScriptedPeer connection = InTraffic.as(ZMTPSocketType.DEALER)
                .peer(ZMTPSocketType.REP)
                .after(client)
                .start()) {
            client.authenticate(nobody());
            connection.channel.runPendingTasks();
            return connection.received();
        }
    }

    @Test
    void ofTwoConnectionsTheNewerOneGetsTheRequests() {
        try (ScriptedPeer old = connected();
                ScriptedPeer next = connected()) {
            zap.authenticate(nobody());
            old.channel.runPendingTasks();
            next.channel.runPendingTasks();
            assertThat(old.received()).isEmpty();
            assertThat(next.received()).contains(Hex.of("\"services\""));
        }
    }

    @Test
    void anOlderConnectionIsUsedAgainWhenTheNewerOneHasEnded() {
        try (ScriptedPeer old = connected()) {
            connected().close();
            CompletableFuture<ZMTPAuthDecision> answer = ask(old, nobody());
            old.send(reply("1", "200"));

            assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.accept(""));
        }
    }

    @Test
    void aClientThatIsAddedAfterTheHandshakeIsUsedAtOnce() {
        try (ScriptedPeer connection =
                InTraffic.as(ZMTPSocketType.DEALER).peer(ZMTPSocketType.REP).start()) {
            connection.channel.pipeline().addLast(zap);
            CompletableFuture<ZMTPAuthDecision> answer = ask(connection, nobody());
            assertThat(connection.received()).contains(Hex.of("\"services\""));
            connection.channel.pipeline().remove(zap);
            assertThat(answer).isCompletedWithValue(ENDED);
        }
    }

    @Test
    void aClientThatIsAddedBetweenTheFutureAndTheEventOfAHandshakeIsUsedOnce() {
        ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
        ScriptedPeer connection = new ScriptedPeer(codec);
        codec.session()
                .handshakeFuture()
                .addListener(done -> connection.channel.pipeline().addAfter("codec", "zap", zap));
        connection.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, ZMTPSocketType.REP));
        connection.received();
        ask(connection, nobody());
        connection.channel.pipeline().remove(zap);

        assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
        connection.close();
    }

    @Test
    void aClientOnAClosedChannelIsNotUsed() {
        ScriptedPeer connection =
                InTraffic.as(ZMTPSocketType.DEALER).peer(ZMTPSocketType.REP).start();
        connection.close();
        connection.channel.pipeline().addLast(zap);

        assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(NOT_CONNECTED);
    }

    @Test
    void aReplyOnTheOldConnectionIsUsed() {
        try (ScriptedPeer old = connected()) {
            CompletableFuture<ZMTPAuthDecision> answer = ask(old, nobody());
            try (ScriptedPeer next = connected()) {
                CompletableFuture<ZMTPAuthDecision> another = ask(next, nobody());
                old.send(reply("1", "400"));

                assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.deny("why"));
                assertThat(another).isNotDone();
                assertThat(old.messages).isEmpty();
            }
        }
    }

    @Test
    void aRequestThatCannotBeSentIsATemporaryFailure() {
        ChannelOutboundHandlerAdapter refusing = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.setFailure(new IOException("no such wire"));
            }
        };
        try (ScriptedPeer connection = InTraffic.as(ZMTPSocketType.DEALER)
                .peer(ZMTPSocketType.REP)
                .after(refusing, zap)
                .start()) {
            assertThat(ask(connection, nobody()))
                    .isCompletedWithValue(ZMTPAuthDecision.temporaryFailure(
                            "the ZAP handler could not be asked: java.io.IOException: no such wire"));
        }
    }

    @Test
    void tooManyPendingRequestsAreATemporaryFailure() {
        try (ScriptedPeer connection = connected()) {
            List<CompletableFuture<ZMTPAuthDecision>> waiting = new ArrayList<>();
            for (int i = 0; i < MAX_PENDING; i++) {
                waiting.add(ask(connection, nobody()));
            }
            connection.channel.releaseOutbound();

            assertThat(ask(connection, nobody()))
                    .isCompletedWithValue(ZMTPAuthDecision.temporaryFailure("10000 requests are pending"));
            assertThat(connection.received()).isEmpty();
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            connection.send(reply("7", "200"));
            assertThat(ask(connection, nobody())).isNotDone();
        }
    }

    @Test
    void aHandlerThatReadsNothingGetsNoMoreRequests() {
        try (ScriptedPeer connection = connected()) {
            connection.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            assertThat(ask(connection, nobody()))
                    .isCompletedWithValue(ZMTPAuthDecision.temporaryFailure("the ZAP handler reads no more requests"));
            assertThat(connection.received()).isEmpty();

            connection.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
            assertThat(ask(connection, nobody())).isNotDone();
        }
    }

    @Test
    void anEventLoopThatHasEndedIsATemporaryFailure() {
        Tasks tasks = new Tasks();
        ScriptedPeer connection = connectedOn(tasks);
        tasks.rejecting = true;
        assertThat(zap.authenticate(nobody()).toCompletableFuture()).isCompletedWithValue(ENDED);
        tasks.rejecting = false;
        connection.close();
    }

    // Secrets

    private static final ZMTPAuthRequest WITH_PASSWORD =
            request(address("192.0.2.7"), ZMTPPlain.NAME, bytes("admin"), bytes("secret"));

    private List<byte[]> copiesOf(Runnable then) {
        return CredentialCopies.of(zap, WITH_PASSWORD, then);
    }

    @Test
    void credentialsAreWipedOnceTheyAreSent() {
        try (ScriptedPeer connection = connected()) {
            CredentialCopies.assertWiped(copiesOf(connection.channel::runPendingTasks));
            assertThat(connection.received()).endsWith(Hex.of("01 05 \"admin\" 00 06 \"secret\""));
        }
    }

    @Test
    void credentialsAreWipedIfTheHandlerReadsNothing() {
        try (ScriptedPeer connection = connected()) {
            connection.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            CredentialCopies.assertWiped(copiesOf(connection.channel::runPendingTasks));
        }
    }

    @Test
    void credentialsAreWipedIfTheConnectionEndsFirst() {
        ScriptedPeer connection = connected();
        CredentialCopies.assertWiped(copiesOf(() -> {
            connection.channel.pipeline().remove(zap);
            connection.channel.runPendingTasks();
        }));
        connection.close();
    }

    @Test
    void credentialsAreWipedIfTheEventLoopHasEnded() {
        Tasks tasks = new Tasks();
        ScriptedPeer connection = connectedOn(tasks);
        tasks.rejecting = true;
        CredentialCopies.assertWiped(copiesOf(() -> {}));
        tasks.rejecting = false;
        connection.close();
    }

    /** The client runs on these tasks, the codec on the event loop. */
    @SuppressWarnings("deprecation") // a handler with its own executor
    private ScriptedPeer connectedOn(Tasks tasks) {
        ScriptedPeer connection =
                InTraffic.as(ZMTPSocketType.DEALER).peer(ZMTPSocketType.REP).start();
        connection.channel.pipeline().addLast(tasks, zap);
        return connection;
    }

    /** An executor that runs tasks at once, or no more. */
    private static final class Tasks extends AbstractEventExecutor {
        private boolean rejecting;

        @Override
        public boolean inEventLoop(Thread thread) {
            return !rejecting;
        }

        @Override
        public void execute(Runnable task) {
            if (rejecting) {
                throw new RejectedExecutionException("ended");
            }
            task.run();
        }

        @Override
        public boolean isShuttingDown() {
            return false;
        }

        @Override
        public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<?> terminationFuture() {
            throw new UnsupportedOperationException();
        }

        @Override
        @Deprecated
        public void shutdown() {}

        @Override
        public boolean isShutdown() {
            return rejecting;
        }

        @Override
        public boolean isTerminated() {
            return rejecting;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return rejecting;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void theTimeoutMustBePositive(long millis) {
        assertThatThrownBy(() -> new ZMTPZapClient(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: more than zero");
    }
}
