package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.testing.Hex;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a session and the events of its handshake print: all that an operator asks, on one line, and nothing twice. */
class EventTextTest {

    private final Session session = new Session(
            ZMTPConfig.builder()
                    .socketType(ZMTPSocketType.ROUTER)
                    .identityGenerator(any -> ByteBuffer.wrap(Hex.bytes("00 07")))
                    .build(),
            new MemoryLedger(Long.MAX_VALUE));
    private final EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.from(session));

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private static ZMTPHandshake handshake(String identity) {
        return new ZMTPHandshake(
                ZMTPVersion.ZMTP31,
                "CURVE",
                ByteBuffer.wrap(identity.getBytes(StandardCharsets.ISO_8859_1)),
                ZMTPSocketType.DEALER,
                ZMTPMetadata.EMPTY.with("Socket-Type", "DEALER").with("Identity", identity));
    }

    private static ZMTPHandshake oldHandshake() {
        return new ZMTPHandshake(ZMTPVersion.ZMTP10, "NULL", ByteBuffer.allocate(0), null, ZMTPMetadata.EMPTY);
    }

    @Test
    void aSuccessNamesThePeerAndWhatWasAgreedOn() {
        session.decide(ZMTPAuthDecision.accept("alice"));
        ZMTPHandshake handshake = handshake("client-1");
        session.agree(handshake);
        session.succeed();
        channel.attr(ZMTPCodec.PEER_ADDRESS).set(InetSocketAddress.createUnresolved("example.org", 5555));

        String text = "{socketType=ROUTER, peer=example.org/<unresolved>:5555, version=ZMTP31, mechanism=CURVE, "
                + "peerType=DEALER, peerIdentity=\"client-1\", userId=\"alice\"}";
        assertThat(new ZMTPHandshakeSuccess(session, handshake)).hasToString("ZMTPHandshakeSuccess" + text);
        assertThat(session).hasToString("ZMTPSession" + text);
    }

    @Test
    void theIdentityOfAnAnonymousPeerIsTheGeneratedOne() {
        ZMTPHandshake handshake = oldHandshake();
        session.agree(handshake);
        session.succeed();

        assertThat(new ZMTPHandshakeSuccess(session, handshake))
                .hasToString("ZMTPHandshakeSuccess{socketType=ROUTER, peer=embedded, version=ZMTP10, mechanism=NULL, "
                        + "peerType=unknown, peerIdentity=0x0007 (generated)}");
    }

    @Test
    void bytesOfThePeerCannotHarmALog() {
        session.decide(ZMTPAuthDecision.accept("alice\n"));
        ZMTPHandshake handshake = handshake("a\u001b[2J");
        session.agree(handshake);
        session.succeed();

        assertThat(new ZMTPHandshakeSuccess(session, handshake))
                .hasToString("ZMTPHandshakeSuccess{socketType=ROUTER, peer=embedded, version=ZMTP31, mechanism=CURVE, "
                        + "peerType=DEALER, peerIdentity=0x611b5b324a, userId=0x616c6963650a}");
    }

    @Test
    void aHandshakeShowsTheLengthsOfFurtherProperties() {
        ZMTPHandshake handshake = handshake("me");
        ZMTPHandshake more = new ZMTPHandshake(
                handshake.negotiatedVersion(),
                handshake.mechanism(),
                handshake.remoteIdentity(),
                handshake.remoteSocketType(),
                handshake.metadata().with("X-Token", "secret"));

        assertThat(handshake)
                .hasToString("ZMTPHandshake{version=ZMTP31, mechanism=CURVE, peerType=DEALER, peerIdentity=\"me\"}");
        assertThat(more)
                .hasToString("ZMTPHandshake{version=ZMTP31, mechanism=CURVE, peerType=DEALER, peerIdentity=\"me\", "
                        + "properties=ZMTPMetadata{X-Token[6]}}");
        assertThat(oldHandshake())
                .hasToString("ZMTPHandshake{version=ZMTP10, mechanism=NULL, peerType=unknown, peerIdentity=anonymous}");
    }

    @Test
    void aFailureNamesThePeerAndTheCause() {
        Throwable cause = ZMTPException.malformed("flags", "0x5", "0");

        assertThat(new ZMTPHandshakeFailure(session, cause, false))
                .hasToString("ZMTPHandshakeFailure{socketType=ROUTER, peer=embedded, "
                        + "cause=dev.zmtp.ZMTPException: flags: 0x5 (expected: 0)}");
    }

    @Test
    void aSessionShowsTheStateOfTheHandshake() {
        assertThat(session).hasToString("ZMTPSession{socketType=ROUTER, peer=embedded, handshake not complete}");
        session.fail(new IOException("reset"));
        assertThat(session)
                .hasToString("ZMTPSession{socketType=ROUTER, peer=embedded, cause=java.io.IOException: reset}");
        assertThat(ZMTPSession.from(session.config()))
                .hasToString("ZMTPSession{socketType=ROUTER, handshake not complete}");
    }
}
