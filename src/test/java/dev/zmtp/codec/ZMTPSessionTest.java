package dev.zmtp.codec;

import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipelineException;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a session knows and when, and the order in which the end of a handshake is reported. */
class ZMTPSessionTest {

    private static final String HANDSHAKE = GREETING + ready("ROUTER", "Identity", "you");

    private static ZMTPCodec dealer() {
        return ZMTPCodec.of(ZMTPSocketType.DEALER);
    }

    /** Calls {@code action} at the handshake event, before anyone after it. */
    private static ChannelInboundHandlerAdapter atTheEvent(Consumer<ChannelHandlerContext> action) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                action.accept(ctx);
                ctx.fireUserEventTriggered(evt);
            }
        };
    }

    @Test
    void thePeersIdentityIsTheOneItAnnounced() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(HANDSHAKE)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(codec.session().peerIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("\"you\"")));
            assertThat(codec.session().isPeerAnonymous()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01 00", "ff 00*7 01 7f 01 06 00 00"})
    void anAnonymousPeerGetsAnIdentityFromTheGenerator(String theirs) {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .identityGenerator(session -> ByteBuffer.wrap(Hex.bytes("00 07")))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(theirs)) {
            assertThat(codec.session().peerIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("00 07")));
            assertThat(codec.session().isPeerAnonymous()).isTrue();
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                            .handshake()
                            .remoteIdentity()
                            .hasRemaining())
                    .isFalse();
        }
    }

    @Test
    void theGeneratorIsCalledOnceForAnAnonymousPeerAndNeverForAnother() {
        AtomicInteger asked = new AtomicInteger();
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(ZMTPSocketType.DEALER)
                .identityGenerator(session -> ByteBuffer.wrap(new byte[] {0, (byte) asked.incrementAndGet()}))
                .build();
        try (ScriptedPeer known = new ScriptedPeer(ZMTPCodec.from(config)).send(HANDSHAKE)) {
            known.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(asked).hasValue(0);
        }
        ZMTPCodec codec = ZMTPCodec.from(config);
        try (ScriptedPeer anonymous = new ScriptedPeer(codec).send(GREETING + ready("ROUTER"))) {
            anonymous.onlyEvent(ZMTPHandshakeSuccess.class);
            codec.session().peerIdentity();
            assertThat(codec.session().peerIdentity()).isEqualTo(ByteBuffer.wrap(new byte[] {0, 1}));
            assertThat(asked).hasValue(1);
        }
    }

    @Test
    void aGeneratorThatFailsFailsTheHandshake() {
        IllegalStateException cause = new IllegalStateException("no more identities");
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .identityGenerator(session -> {
                    throw cause;
                })
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING + ready("ROUTER"))) {
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .isInstanceOf(DecoderException.class)
                    .hasCause(cause);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void eachCallerGetsItsOwnReadOnlyPeerIdentity() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(HANDSHAKE)) {
            ByteBuffer identity = codec.session().peerIdentity();
            assertThat(identity.isReadOnly()).isTrue();
            identity.position(2);
            assertThat(codec.session().peerIdentity().remaining()).isEqualTo(3);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aGeneratedPeerIdentityIsReadOnly() {
        ByteBuffer writable = ByteBuffer.wrap(new byte[] {0, 1});
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.ROUTER)
                .identityGenerator(session -> writable)
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, ZMTPSocketType.DEALER));
            assertThat(codec.session().peerIdentity()).isEqualTo(writable);
            assertThat(codec.session().peerIdentity().isReadOnly()).isTrue();
        }
    }

    @Test
    void generatedIdentitiesDifferAndStartWithAZero() {
        ZMTPSession session = ZMTPSession.from(
                ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER).build());
        ByteBuffer first = ZMTPIdentityGenerator.sequential().generateIdentity(session);
        ByteBuffer second = ZMTPIdentityGenerator.sequential().generateIdentity(session);
        assertThat(first).isNotEqualTo(second);
        assertThat(first.remaining()).isEqualTo(9);
        assertThat(first.get(0)).isZero();
        assertThat(second.get(0)).isZero();
    }

    @Test
    void aSessionKnowsNothingBeforeItsHandshake() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING)) {
            assertThat(peer.events).isEmpty();
            assertThatThrownBy(codec.session()::peerIdentity).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(codec.session()::isPeerAnonymous).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(codec.session()::negotiatedVersion).isInstanceOf(IllegalStateException.class);
            assertThat(codec.session().handshakeFuture().isDone()).isFalse();
        }
    }

    @Test
    void aSessionKnowsNothingAfterAFailure() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING + ready("PUB"))) {
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThatThrownBy(codec.session()::peerIdentity).isInstanceOf(IllegalStateException.class);
            assertThat(codec.session().handshakeFuture().cause()).isInstanceOf(ZMTPException.class);
        }
    }

    @Test
    void theEventsCarryTheSession() {
        ZMTPCodec good = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(good).send(HANDSHAKE)) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).session()).isSameAs(good.session());
        }
        ZMTPCodec bad = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(bad).send("00 00")) {
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).session()).isSameAs(bad.session());
        }
    }

    @Test
    void theFutureHoldsTheHandshakeOfTheEvent() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(HANDSHAKE)) {
            assertThat(codec.session().handshakeFuture().getNow())
                    .isSameAs(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake());
            assertThat(codec.session().negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP31);
        }
    }

    @Test
    void theFutureFailsWithTheCauseOfTheEvent() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send("00 00")) {
            assertThat(codec.session().handshakeFuture().cause())
                    .isSameAs(peer.onlyEvent(ZMTPHandshakeFailure.class).cause());
        }
    }

    @Test
    void theFutureOfAHandshakeCannotBeCancelled() {
        ZMTPCodec codec = dealer();
        assertThat(codec.session().handshakeFuture().cancel(true)).isFalse();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(HANDSHAKE)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aListenerMayWaitBeforeThereIsAChannel() {
        ZMTPCodec codec = dealer();
        List<Boolean> done = new ArrayList<>();
        codec.session().handshakeFuture().addListener(future -> done.add(future.isSuccess()));
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(HANDSHAKE)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(done).containsExactly(true);
        }
    }

    @Test
    void aWriteFromTheFuturesListenerFollowsHeldWrites() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            codec.session()
                    .handshakeFuture()
                    .addListener(future -> peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("b")));
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.send(GREETING);
            peer.received();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    @Test
    void aWriteFromTheEventsHandlerFollowsHeldWrites() {
        ChannelInboundHandlerAdapter writer = atTheEvent(ctx -> ctx.writeAndFlush(ZMTPMessage.fromUTF8("b")));
        try (ScriptedPeer peer = new ScriptedPeer(dealer(), writer)) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.send(GREETING);
            peer.received();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    @Test
    void listenersOfHeldWritesMayUseTheSession() {
        ZMTPCodec codec = dealer();
        List<ZMTPVersion> versions = new ArrayList<>();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            peer.channel
                    .writeAndFlush(ZMTPMessage.fromUTF8("a"))
                    .addListener(sent -> versions.add(codec.session().negotiatedVersion()));
            peer.send(HANDSHAKE);
            assertThat(versions).containsExactly(ZMTPVersion.ZMTP31);
        }
    }

    @Test
    void theFutureCompletesBeforeTheEventAndTheEventBeforeTheFirstMessage() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            codec.session().handshakeFuture().addListener(future -> peer.all.add("future"));
            peer.send(HANDSHAKE + "00 02 \"hi\"");
            assertThat(peer.all).hasSize(3);
            assertThat(peer.all.get(0)).isEqualTo("future");
            assertThat(peer.all.get(1)).isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.all.get(2)).isEqualTo(message("hi"));
        }
    }

    /** The future and the event agree, and each handler gets an event before channelInactive. */
    @Test
    void theSuccessIsFiredAlsoIfAListenerOfTheFutureHasClosedTheChannelAndNothingElseIs() {
        ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.XPUB);
        List<String> order = new ArrayList<>();
        ChannelInboundHandlerAdapter recording = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                order.add(Fired.describe(evt));
                ctx.fireUserEventTriggered(evt);
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                order.add("inactive");
            }
        };
        try (ScriptedPeer peer = new ScriptedPeer(codec, recording)) {
            codec.session().handshakeFuture().addListener(future -> peer.channel.close());
            peer.send("01 00 / 02 00 61");
            assertThat(order).containsExactly("success ZMTP10", "inactive");
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aListenerOfAHeldWriteMayCloseTheChannel() {
        try (ScriptedPeer peer = new ScriptedPeer(dealer())) {
            peer.channel.write("not a message").addListener(failed -> peer.channel.close());
            ChannelFuture unsent = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.send(HANDSHAKE);
            assertThat(peer.events).hasSize(1);
            assertThat(unsent.cause()).isNotNull();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aHandlerOfTheEventMayRemoveTheCodecAndGetsItsUnreadBytes() {
        ChannelInboundHandlerAdapter remover = atTheEvent(ctx -> ctx.pipeline().remove(ZMTPCodec.class));
        try (ScriptedPeer peer = new ScriptedPeer(dealer(), remover).send(HANDSHAKE + "00 02 \"hi\"")) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).containsExactly("bytes 00026869");
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void oneInstanceServesOneChannel() {
        ZMTPCodec codec = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            EmbeddedChannel other = new EmbeddedChannel();
            assertThatThrownBy(() -> other.pipeline().addLast(codec)).isInstanceOf(ChannelPipelineException.class);
            assertThatThrownBy(() -> peer.channel.pipeline().addLast(codec))
                    .isInstanceOf(ChannelPipelineException.class);
            other.finishAndReleaseAll();
            peer.send(HANDSHAKE);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aSessionServesOneCodec() {
        ZMTPCodec first = dealer();
        try (ScriptedPeer peer = new ScriptedPeer(first)) {
            ScriptedPeer other = new ScriptedPeer();
            other.channel.pipeline().addFirst(ZMTPCodec.from(first.session()));
            assertThat(other.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure)
                            .isInstanceOf(ChannelPipelineException.class)
                            .hasMessageNotContaining("failed to remove")
                            .hasRootCauseInstanceOf(IllegalStateException.class)
                            .hasRootCauseMessage("the session is already used by another channel"));
            assertThat(other.channel.pipeline().get(ZMTPCodec.class)).isNull();
            assertThat(other.received()).isEmpty();
            other.close();
            peer.send(HANDSHAKE);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void oneConfigServesManyChannels() {
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER).build();
        List<ScriptedPeer> peers = new ArrayList<>();
        List<ByteBuffer> identities = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            ZMTPCodec codec = ZMTPCodec.from(config);
            peers.add(new ScriptedPeer(codec).send(GREETING + ready("DEALER")));
            identities.add(codec.session().peerIdentity());
        }
        assertThat(identities).doesNotHaveDuplicates();
        peers.forEach(peer -> peer.onlyEvent(ZMTPHandshakeSuccess.class));
        peers.forEach(ScriptedPeer::close);
    }

    @Test
    void aMechanismThatCannotBeCreatedFailsTheFuture() {
        IllegalStateException cause = new IllegalStateException("no keys");
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .mechanism(context -> {
                    throw cause;
                })
                .build();
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.pipeline().addFirst(codec);
        assertThat(codec.session().handshakeFuture().cause()).isSameAs(cause);
        assertThat(peer.failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .isInstanceOf(ChannelPipelineException.class)
                        .hasCause(cause));
        assertThat(peer.events).isEmpty(); // not before later handlers are added that get it
        peer.channel.runPendingTasks();
        assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).isSameAs(cause);
        assertThat(peer.channel.isOpen()).isFalse();
        peer.close();
    }

    @Test
    void aCodecRefusesASessionThatIsNoneOfOurs() {
        ZMTPSession session = mock(ZMTPSession.class);

        assertThatThrownBy(() -> ZMTPCodec.from(session))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("session: ")
                .hasMessageEndingWith(" (expected: one that ZMTPSession.from has made)");
    }
}
