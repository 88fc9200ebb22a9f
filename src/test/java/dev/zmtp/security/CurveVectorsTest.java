package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/**
 * The bytes of a whole CURVE handshake and its first messages, with fixed keys and nonces.
 *
 * <p>They were made by another implementation, which has talked to libzmq 4.3.5 in both roles.
 */
class CurveVectorsTest {

    private static final String WELCOME_BOX = """
            341c726859cde17ff97a1fc3ffb79c15c9cddd1ace656d024deea4387ed3f60ca6e2fee97c8f4ba6afc49362b94e36c2ce7a100e
            dbe994515d33e529fd24ae1796c78250a1e27d2701ae801e28c356d9a03e5343b3f337474b1825b684be9020dfbdb7d5f5404cfd
            870addb2e24e43d7a20c4f2aeb042a9c5b1bbffe0f8f6d1348ce74eddf28133021339e2f90f55f79
            """;
    private static final String COOKIE = """
            b0b1b2b3b4b5b6b7b8b9babbbcbdbebff1a571288eac628d9da0682919fade817c8573a14f37ffc0630709c1ee87bcb5957691b0
            f6f209120e883affff86fb4410c6a2812eba1e748f4fcc32ff7b7afe51edaa129f6ac91a752028599c3e4c03
            """;
    private static final String INITIATE_BOX = """
            10165ac7839cc2add8cd8a12b301bc584cdb4301112074fafdde36317da53cbd134893ba792dd895c1c7d6041e09c695a717713c
            151ba0f28d8debd2381ca7801682db82f1b0ae835723f2eae65d2ccdab5311467e70ca714fc70d3aa7cf28fa84abcedd300726cc
            54d6cf17bf238d510c8f3169986aa7620e7516ae3e1ba97a813d262bbab930169deac7d9de860328809cddc3ea2122cba635ffd3
            7b8c2fbeb1fa1780d6db
            """;

    private static byte[] count(int from, int bytes) {
        byte[] counted = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            counted[i] = (byte) (from + i);
        }
        return counted;
    }

    /** Returns given bytes in order. */
    private static final class Scripted extends SecureRandom {
        private static final long serialVersionUID = 1L;
        private final transient Queue<byte[]> script = new ArrayDeque<>();

        private Scripted(byte[]... script) {
            this.script.addAll(List.of(script));
        }

        @Override
        public void nextBytes(byte[] bytes) {
            byte[] next = script.remove();
            assertThat(bytes).hasSize(next.length);
            System.arraycopy(next, 0, bytes, 0, bytes.length);
        }
    }

    private final ZMTPCurveKeyPair serverKeys = ZMTPCurveKeyPair.fromSecretKey(count(0x01, 32));
    private final ZMTPCurveKeyPair clientKeys = ZMTPCurveKeyPair.fromSecretKey(count(0x21, 32));

    private final CurveClient client = new CurveClient(
            new StandaloneContext("DEALER"),
            new Scripted(count(0x41, 32), count(0xc0, 16)),
            serverKeys.publicKey(),
            clientKeys);
    private final CurveServer server = new CurveServer(
            new StandaloneContext("ROUTER"),
            new Scripted(count(0x61, 32), count(0xa0, 16), count(0x81, 32), count(0xb0, 16)),
            serverKeys);

    /** Passes the next command of {@code from} to {@code to}, and returns it in hex. */
    private static String next(ZMTPMechanism from, ZMTPMechanism to) {
        ByteBuf command = from.poll();
        if (command == null) {
            command = from.poll(); // the first one computed
        }
        String hex = ByteBufUtil.hexDump(command);
        to.receive(command);
        command.release();
        return hex;
    }

    private static String sha256(String hex) throws Exception {
        return ByteBufUtil.hexDump(MessageDigest.getInstance("SHA-256").digest(Hex.bytes(hex)));
    }

    @Test
    void thePublicKeysAreDerivedFromTheSecretKeys() {
        assertThat(ByteBufUtil.hexDump(serverKeys.publicKey().bytes()))
                .isEqualTo("07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c");
        assertThat(ByteBufUtil.hexDump(clientKeys.publicKey().bytes()))
                .isEqualTo("5869aff450549732cbaaed5e5df9b30a6da31cb0e5742bad5ad4a1a768f1a67b");
        assertThat(ByteBufUtil.hexDump(Curve25519.sharedKey(count(0x41, 32), Curve25519.publicKey(count(0x61, 32)))))
                .isEqualTo("fad97f4c552999bded1d5887896dc849ad1ba9485b616188a9df62dce12b4603");
    }

    @Test
    void theHandshakeEqualsTheVectors() throws Exception {
        String hello = next(client, server);
        assertThat(hello).isEqualTo(Hex.of("""
                05 "HELLO" 01 00 00*72
                64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466
                00*7 01
                baea222ddf8349a61ae5f09ff82e6b68fb7ae512d0f2deadd113580fa28702ce62029d36c7bb283b80487527e00ebba3
                80ca7e32ea1cd8a5fd5eae4189a38598573cf55be3f6c9e57647e56236541f94
                """));
        assertThat(sha256(hello)).isEqualTo("ebaee50e7cd610680bda3e519c6bf48574089c925248c6df652ba1715c72e036");

        String welcome = next(server, client);
        assertThat(welcome).isEqualTo(Hex.of("07 \"WELCOME\" a0a1a2a3a4a5a6a7a8a9aaabacadaeaf " + WELCOME_BOX));
        assertThat(sha256(welcome)).isEqualTo("c1dae77707910f7f19991f22cb529358f63b75e7ff083487568378c4242411f5");

        String initiate = next(client, server);
        assertThat(initiate).isEqualTo(Hex.of("08 \"INITIATE\" " + COOKIE + " 00*7 02 " + INITIATE_BOX));
        assertThat(sha256(initiate)).isEqualTo("0c34c77c2e62c93fb834e1498db2f9908b1485b910d7c44bb4d8a2cd9554ac6f");

        String ready = next(server, client);
        assertThat(ready).isEqualTo(Hex.of("""
                05 "READY" 00*7 01 ee8c3e7e1c0c7c79e067decbbe0329783bcb18921ea0eb9a90d6a67ba3cec16cd5ecceab47a4
                """));
        assertThat(sha256(ready)).isEqualTo("f0e4676d2b83f8b5ed72a3c91de4ac7a1448829af7f7aad7a9e8719ada27b1b5");
        assertThat(client.isReady() && server.isReady()).isTrue();
        assertThat(client.peerMetadata().valueUTF8(ZMTPMetadata.SOCKET_TYPE)).isEqualTo("ROUTER");
        assertThat(server.peerMetadata().valueUTF8(ZMTPMetadata.SOCKET_TYPE)).isEqualTo("DEALER");
    }

    @Test
    void theMessagesEqualTheVectors() {
        for (int i = 0; i < 2; i++) {
            next(client, server);
            next(server, client);
        }
        ZMTPMechanism.FrameCipher ours = client.cipher();
        ZMTPMechanism.FrameCipher theirs = server.cipher();
        String hello = "074d45535341474500000000000000038c27925a7cbaec0ed100f98f6d5f9e470f5bc73a210c";
        String world = "074d45535341474500000000000000028985259439dc44204649aaad8347a49609d773366f5d";
        String subscribe = "074d4553534147450000000000000004a6fcc1393c974ab8e047ab0cb37ebe22b69a88cb27f522bef4fb3503";
        assertThat(sealed(ours, 0, "\"Hello\"")).isEqualTo(hello);
        assertThat(sealed(theirs, ZMTPFraming.MORE, "\"World\"")).isEqualTo(world);
        assertThat(sealed(ours, ZMTPFraming.COMMAND, "09 \"SUBSCRIBE\" \"A\"")).isEqualTo(subscribe);

        assertThat(opened(theirs, hello)).isEqualTo("0 " + Hex.of("\"Hello\""));
        assertThat(opened(ours, world)).isEqualTo(ZMTPFraming.MORE + " " + Hex.of("\"World\""));
        assertThat(opened(theirs, subscribe)).isEqualTo(ZMTPFraming.COMMAND + " " + Hex.of("09 \"SUBSCRIBE\" \"A\""));
    }

    private static String sealed(ZMTPMechanism.FrameCipher cipher, int flags, String body) {
        ByteBuf out = Unpooled.buffer();
        cipher.seal(flags, Unpooled.wrappedBuffer(Hex.bytes(body)), out);
        return ByteBufUtil.hexDump(out);
    }

    private static String opened(ZMTPMechanism.FrameCipher cipher, String sealed) {
        ByteBuf body = Unpooled.wrappedBuffer(Hex.bytes(sealed));
        return cipher.open(body) + " " + ByteBufUtil.hexDump(body);
    }
}
