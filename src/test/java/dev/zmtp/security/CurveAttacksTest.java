package dev.zmtp.security;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a CURVE server and a CURVE client refuse, byte by byte. */
class CurveAttacksTest {

    private static final SecureRandom RANDOM = new SecureRandom();

    private static final int INITIATE_COUNT_AT = 105;

    private final ZMTPCurveKeyPair serverKeys = CurveForge.SERVER;
    private final ZMTPCurveKeyPair clientKeys = CurveForge.CLIENT;
    private final CurveServer server = newServer();
    private final CurveClient client = newClient(serverKeys.publicKey());

    private CurveServer newServer() {
        return new CurveServer(new StandaloneContext("ROUTER"), RANDOM, serverKeys);
    }

    private CurveClient newClient(ZMTPCurvePublicKey serverKey) {
        return new CurveClient(new StandaloneContext("DEALER"), RANDOM, serverKey, clientKeys);
    }

    /** The body of the next command, after the computation if there is one. */
    private static byte[] next(ZMTPMechanism side) {
        ByteBuf command = side.poll();
        if (command == null) {
            command = side.poll();
        }
        byte[] bytes = ByteBufUtil.getBytes(command);
        command.release();
        return bytes;
    }

    private static void give(ZMTPMechanism side, byte[] command) {
        side.receive(Unpooled.wrappedBuffer(command));
    }

    /** The exception with which {@code side} refuses a command, on its event loop or after its computation. */
    private static ZMTPException refusal(ZMTPMechanism side, byte[] command) {
        ZMTPException[] refusal = new ZMTPException[1];
        assertThatThrownBy(() -> {
                    give(side, command);
                    side.poll();
                })
                .isInstanceOfSatisfying(ZMTPException.class, e -> refusal[0] = e);
        assertThat(side.refuse(refusal[0])).isNull(); // no answer that an attacker could learn from
        return refusal[0];
    }

    /** As {@link #refusal(ZMTPMechanism, byte[])}, if it is for bytes that break the grammar or a box. */
    private static ZMTPException malformed(ZMTPMechanism side, byte[] command) {
        ZMTPException refusal = refusal(side, command);
        assertThat(refusal.code()).isEqualTo(Code.MALFORMED);
        return refusal;
    }

    private static byte[] changed(byte[] bytes, int at) {
        byte[] changed = bytes.clone();
        changed[at] ^= 1;
        return changed;
    }

    private static byte[] withCount(byte[] bytes, int at, long count) {
        byte[] changed = bytes.clone();
        Unpooled.wrappedBuffer(changed).setLong(at, count);
        return changed;
    }

    // HELLO

    @Test
    void aHelloWithAnyByteButItsPaddingChangedIsRefused() {
        byte[] hello = next(client);
        for (int i = 0; i < hello.length; i++) {
            CurveServer fresh = newServer();
            byte[] changed = changed(hello, i);
            if (i >= 8 && i < 80) {
                give(fresh, changed);
                assertThat(fresh.poll()).isNotNull().matches(ByteBuf::release);
            } else {
                assertThat(refusal(fresh, changed).code()).as("byte %d", i).isIn(Code.MALFORMED, Code.UNEXPECTED);
            }
            fresh.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 199, 201})
    void aHelloHas200Bytes(int length) {
        assertThat(refusal(server, Arrays.copyOf(next(client), length)))
                .hasMessage("HELLO data length: " + (length - 6) + " (expected: 194)");
    }

    @Test
    void theBoxOfAHelloHoldsZeros() {
        byte[] secret = Hex.bytes("03*32");
        byte[] key = Curve25519.sharedKey(secret, serverKeys.publicKey().bytes());
        byte[] box = CurveBoxes.seal(key, CurveBoxes.nonce(CurveBoxes.HELLO_NONCE, 1), Hex.bytes("00*63 01"));
        byte[] hello = Hex.bytes("05 \"HELLO\" 01 00 00*72 " + ByteBufUtil.hexDump(Curve25519.publicKey(secret))
                + " 00*7 01 " + ByteBufUtil.hexDump(box));
        assertThat(refusal(server, hello)).hasMessage("HELLO: a box of something (expected: one of zeros)");
    }

    @ParameterizedTest
    @MethodSource("dev.zmtp.security.LowOrderKeys#all")
    void aKeyOfLowOrderIsRefused(String key) {
        byte[] hello = next(client);
        System.arraycopy(Hex.bytes(key), 0, hello, 80, 32);
        assertThat(malformed(server, hello)).hasMessageStartingWith("CURVE public key: of low order");
    }

    // INITIATE

    private byte[] initiate() {
        give(server, next(client));
        give(client, next(server));
        return next(client);
    }

    @Test
    void anInitiateWithAnyByteChangedIsRefused() {
        for (int i = 9; i < 279; i++) {
            CurveServer ours = newServer();
            CurveClient theirs = newClient(serverKeys.publicKey());
            give(ours, next(theirs));
            give(theirs, next(ours));
            ZMTPException refusal = refusal(ours, changed(next(theirs), i));
            assertThat(refusal.code()).as("byte %d", i).isEqualTo(Code.MALFORMED);
            ours.close();
            theirs.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 256})
    void anInitiateHasAtLeast257Bytes(int length) {
        assertThat(refusal(server, Arrays.copyOf(initiate(), length)))
                .hasMessage("INITIATE data length: " + (length - 9) + " (expected: >= 248)");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void theNonceOfAnInitiateMustBeGreaterThanThatOfTheHello(long count) {
        assertThat(malformed(server, withCount(initiate(), INITIATE_COUNT_AT, count)))
                .hasMessage("CURVE nonce: " + count + " (expected: > 1)");
    }

    @Test
    void theNonceOfAHelloIsNotZero() {
        assertThat(refusal(server, CurveForge.helloBody(0))).hasMessage("CURVE nonce: 0 (expected: > 0)");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2})
    void theNonceOfTheFirstMessageToTheServerMustBeGreaterThanThatOfTheInitiate(long count) {
        CurveForge forge = new CurveForge();
        give(server, CurveForge.helloBody());
        give(server, forge.initiateBody(next(server), serverKeys.publicKey(), CurveForge.metadata(DEALER)));
        next(server);
        assertThat(refusal(server.cipher(), forge.messageBody(count)))
                .hasMessage("CURVE nonce: " + count + " (expected: > 2)");
        assertThat(open(server.cipher(), forge.messageBody(3))).isZero();
    }

    /** The key of a session with a server whose transient secret key is {@link #KNOWN}. */
    private byte[] sessionKeyWithKnown() {
        CurveServer known = new CurveServer(new StandaloneContext("ROUTER"), new Known(), serverKeys);
        byte[] hello = next(client);
        give(known, hello);
        give(client, next(known));
        next(client);
        return Curve25519.sharedKey(KNOWN, Arrays.copyOfRange(hello, 80, 112));
    }

    private static final byte[] KNOWN = Hex.bytes("07*32");

    /** Makes keys of {@link #KNOWN}. */
    private static final class Known extends SecureRandom {
        private static final long serialVersionUID = 1L;

        @Override
        public void nextBytes(byte[] bytes) {
            Arrays.fill(bytes, KNOWN[0]);
        }
    }

    private static byte[] readyBody(byte[] key, int count) {
        byte[] metadata = CurveForge.metadata(ROUTER);
        byte[] box = CurveBoxes.seal(key, CurveBoxes.nonce(CurveBoxes.READY_NONCE, count), metadata);
        return Hex.bytes("05 \"READY\" 00*7 %02x %s".formatted(count, ByteBufUtil.hexDump(box)));
    }

    @Test
    void theNonceOfAReadyIsNotZero() {
        byte[] key = sessionKeyWithKnown();
        assertThat(refusal(client, readyBody(key, 0))).hasMessage("CURVE nonce: 0 (expected: > 0)");
        give(client, readyBody(key, 1));
        assertThat(client.isReady()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5})
    void theNonceOfTheFirstMessageToTheClientMustBeGreaterThanThatOfTheReady(long count) {
        byte[] key = sessionKeyWithKnown();
        give(client, readyBody(key, 5));
        CurveCipher forged = new CurveCipher(
                new SecretBox(key, CurveBoxes.SERVER_NONCE), count, new SecretBox(key, CurveBoxes.CLIENT_NONCE), 0);
        assertThat(refusal(client.cipher(), sealed(forged, 0, "61")))
                .hasMessage("CURVE nonce: " + count + " (expected: > 5)");
    }

    @Test
    void noncesAreUnsigned() {
        CurveCipher.checkCount(Long.MIN_VALUE, Long.MAX_VALUE);
        CurveCipher.checkCount(-1, -2);
        assertThatThrownBy(() -> CurveCipher.checkCount(1, -1)).hasMessageContaining("18446744073709551615");
    }

    @Test
    void aRecordedHandshakeIsRefusedOnAnotherConnection() {
        byte[] hello = next(client);
        give(server, hello);
        give(client, next(server));
        byte[] initiate = next(client);
        give(server, initiate);
        assertThat(next(server)).startsWith(Hex.bytes("05 \"READY\""));

        CurveServer another = newServer();
        give(another, hello);
        next(another);
        assertThat(malformed(another, initiate)).hasMessageStartingWith("cookie: a box that does not open");
    }

    /** The INITIATE, to {@link #server}, of a client whose vouch names this server key. */
    private byte[] initiateVouchingFor(ZMTPCurvePublicKey named) {
        give(server, CurveForge.helloBody());
        return new CurveForge().initiateBody(next(server), named, CurveForge.metadata(DEALER));
    }

    @Test
    void aVouchForAnotherServerIsRefused() {
        ZMTPCurveKeyPair other = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("04*32"));
        assertThat(malformed(server, initiateVouchingFor(other.publicKey())))
                .hasMessageStartingWith("vouch: for other keys");
    }

    @Test
    void aVouchForAnotherTransientKeyIsRefused() {
        give(server, CurveForge.helloBody());
        byte[] another = Curve25519.publicKey(Hex.bytes("06*32"));
        byte[] initiate = new CurveForge()
                .initiateBody(next(server), another, serverKeys.publicKey(), CurveForge.metadata(DEALER));
        assertThat(malformed(server, initiate)).hasMessageStartingWith("vouch: for other keys");
    }

    @Test
    void onlyAPeerThatHasProvenItsKeyIsToldThatItsSocketTypeIsWrong() {
        ZMTPException wrongType = new ZMTPException(Code.SOCKET_TYPE, "socket type: wrong");
        assertThat(server.refuse(wrongType)).as("before the HELLO").isNull();
        byte[] initiate = initiate();
        assertThat(server.refuse(wrongType)).as("before the INITIATE").isNull();
        refusal(server, changed(initiate, initiate.length - 1));
        assertThat(server.refuse(wrongType)).as("after a forged INITIATE").isNull();

        CurveServer another = newServer();
        give(another, CurveForge.helloBody());
        refusal(
                another,
                new CurveForge().initiateBody(next(another), clientKeys.publicKey(), CurveForge.metadata(DEALER)));
        assertThat(another.refuse(wrongType))
                .as("after a vouch for another server")
                .isNull();

        CurveServer third = newServer();
        give(third, CurveForge.helloBody());
        give(third, new CurveForge().initiateBody(next(third), serverKeys.publicKey(), CurveForge.metadata(DEALER)));
        assertThat(third.refuse(wrongType)).as("before the vouch was checked").isNull();
        next(third);
        ByteBuf error = third.refuse(wrongType);
        assertThat(ByteBufUtil.hexDump(error))
                .isEqualTo(Hex.of("05 \"ERROR\" 12 \"socket\" 20 \"type:\" 20 \"wrong\""));
        error.release();
    }

    @Test
    void aVouchForThisServerIsAccepted() {
        give(server, initiateVouchingFor(serverKeys.publicKey()));
        assertThat(next(server)).startsWith(Hex.bytes("05 \"READY\""));
    }

    @Test
    void aCommandOutOfTurnIsRefused() {
        byte[] hello = next(client);
        List<Runnable> waiting = new ArrayList<>();
        CurveServer slow = new CurveServer(new StandaloneContext("ROUTER", waiting::add), RANDOM, serverKeys);
        give(slow, hello);
        assertThat(refusal(slow, hello)).hasMessage("command: HELLO (expected: none in COMPUTING)");
        assertThat(refusal(newServer(), Hex.bytes("08 \"INITIATE\" 00*257")).code())
                .isEqualTo(Code.UNEXPECTED);
        assertThat(refusal(client, Hex.bytes("05 \"READY\" 00*24")).code()).isEqualTo(Code.UNEXPECTED);
    }

    // WELCOME and READY

    @Test
    void aWelcomeWithAnyByteChangedIsRefused() {
        give(server, next(client));
        byte[] welcome = next(server);
        for (int i = 8; i < welcome.length; i++) {
            assertThat(refusal(client, changed(welcome, i)).code()).isEqualTo(Code.MALFORMED);
        }
        for (int length : new int[] {8, 167, 169}) {
            assertThat(refusal(client, Arrays.copyOf(welcome, length))).hasMessageStartingWith("WELCOME data length");
        }
    }

    @Test
    void aReadyWithAnyByteChangedIsRefused() {
        give(server, initiate());
        byte[] ready = next(server);
        for (int i = 6; i < ready.length; i++) {
            assertThat(refusal(client, changed(ready, i)).code()).isEqualTo(Code.MALFORMED);
        }
        assertThat(refusal(client, Arrays.copyOf(ready, 29))).hasMessageStartingWith("READY data length: 23");
    }

    @Test
    void theClientUnderstandsARefusal() {
        give(server, next(client));
        give(client, next(server));
        next(client);
        assertThat(refusal(client, Hex.bytes("05 \"ERROR\" 03 \"400\"")))
                .hasMessage("refused by the peer: 400")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Code.PEER_ERROR));
    }

    // MESSAGE

    private static byte[] sealed(ZMTPMechanism.FrameCipher cipher, int flags, String body) {
        ByteBuf out = Unpooled.buffer();
        cipher.seal(flags, Unpooled.wrappedBuffer(Hex.bytes(body)), out);
        return ByteBufUtil.getBytes(out);
    }

    private static ZMTPException refusal(ZMTPMechanism.FrameCipher cipher, byte[] sealed) {
        ZMTPException[] refusal = new ZMTPException[1];
        assertThatThrownBy(() -> cipher.open(Unpooled.wrappedBuffer(sealed.clone())))
                .isInstanceOfSatisfying(ZMTPException.class, e -> refusal[0] = e);
        return refusal[0];
    }

    private static int open(ZMTPMechanism.FrameCipher cipher, byte[] sealed) {
        return cipher.open(Unpooled.wrappedBuffer(sealed.clone()));
    }

    private void shakeHands() {
        give(server, initiate());
        give(client, next(server));
        assertThat(client.isReady() && server.isReady()).isTrue();
    }

    @Test
    void messagesAreAcceptedOnceAndInOrderAndGapsAreAllowed() {
        shakeHands();
        byte[] first = sealed(client.cipher(), 0, "61");
        byte[] second = sealed(client.cipher(), 0, "62");
        byte[] third = sealed(client.cipher(), 0, "63");
        assertThat(open(server.cipher(), first)).isZero();
        assertThat(refusal(server.cipher(), first)).hasMessage("CURVE nonce: 3 (expected: > 3)");
        assertThat(open(server.cipher(), third)).isZero();
        assertThat(refusal(server.cipher(), second)).hasMessage("CURVE nonce: 4 (expected: > 5)");
    }

    @Test
    void aMessageWithAnyByteChangedIsRefusedAndUsesNoNonce() {
        shakeHands();
        byte[] sealed = sealed(client.cipher(), 0, "\"Hello\"");
        for (int i = 0; i < sealed.length; i++) {
            assertThat(refusal(server.cipher(), changed(sealed, i)).code()).isIn(Code.MALFORMED, Code.UNEXPECTED);
        }
        assertThat(open(server.cipher(), sealed)).isZero();
    }

    @Test
    void aMessageSentBackIsRefused() {
        shakeHands();
        byte[] sealed = sealed(client.cipher(), 0, "61");
        assertThat(refusal(client.cipher(), sealed)).hasMessageStartingWith("MESSAGE: a box that does not open");
    }

    @ParameterizedTest
    @CsvSource({"32, 'MESSAGE length: 32 (expected: >= 33)'", "0, 'MESSAGE length: 0 (expected: >= 33)'"})
    void aMessageHasAtLeast33Bytes(int length, String message) {
        shakeHands();
        byte[] sealed = sealed(client.cipher(), 0, "");
        assertThat(sealed).hasSize(33);
        assertThat(refusal(server.cipher(), Arrays.copyOf(sealed, length))).hasMessage(message);
        assertThat(open(server.cipher(), sealed)).isZero();
    }

    @Test
    void clearTextIsRefused() {
        shakeHands();
        assertThat(refusal(server.cipher(), Hex.bytes("61*40")))
                .hasMessage("frame: in clear text (expected: a MESSAGE of CURVE)")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Code.UNEXPECTED));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 0x80, 0xff})
    void unknownFlagsAreRefused(int flags) {
        byte[] key = Hex.bytes("07*32");
        SecretBox box = new SecretBox(key, CurveBoxes.CLIENT_NONCE);
        ByteBuf frame = Unpooled.buffer();
        frame.writeBytes(Hex.bytes("07 \"MESSAGE\" 00*7 05 00*16")).writeByte(flags);
        box.seal(5, frame, 32, 1);
        CurveCipher cipher = new CurveCipher(
                new SecretBox(key, CurveBoxes.SERVER_NONCE), 2, new SecretBox(key, CurveBoxes.CLIENT_NONCE), 4);
        assertThatThrownBy(() -> cipher.open(frame))
                .hasMessage("MESSAGE flags: " + flags + " (expected: 0, 1 or 2)")
                .isInstanceOfSatisfying(
                        ZMTPException.class, e -> assertThat(e.code()).isEqualTo(Code.MALFORMED));
    }

    @Test
    void theFlagsCommandAndMoreAreSentInsideTheBox() {
        shakeHands();
        assertThat(open(server.cipher(), sealed(client.cipher(), ZMTPFraming.COMMAND, "61")))
                .isEqualTo(ZMTPFraming.COMMAND);
        assertThat(open(server.cipher(), sealed(client.cipher(), ZMTPFraming.MORE, "61")))
                .isEqualTo(ZMTPFraming.MORE);
    }

    @Test
    void theLastNonceIsNeverUsed() {
        byte[] key = Hex.bytes("07*32");
        CurveCipher ours = new CurveCipher(
                new SecretBox(key, CurveBoxes.CLIENT_NONCE), -2, new SecretBox(key, CurveBoxes.SERVER_NONCE), 1);
        CurveCipher theirs = new CurveCipher(
                new SecretBox(key, CurveBoxes.SERVER_NONCE), 2, new SecretBox(key, CurveBoxes.CLIENT_NONCE), -3);
        assertThat(open(theirs, sealed(ours, 0, "61"))).isZero();
        assertThatThrownBy(() -> sealed(ours, 0, "62"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("CURVE nonce: 18446744073709551615");
    }

    // Secrets

    @Test
    void nothingIsSealedAfterTheEnd() throws InterruptedException {
        shakeHands();
        ZMTPMechanism.FrameCipher cipher = client.cipher();
        Blocking.allow(client::close);
        assertThatThrownBy(() -> sealed(cipher, 0, "61")).hasMessageStartingWith("key: wiped");
    }
}
