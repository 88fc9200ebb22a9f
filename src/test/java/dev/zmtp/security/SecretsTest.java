package dev.zmtp.security;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doNothing;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;

import dev.zmtp.ZMTPException;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.ArgumentCaptor;

/** Which arrays still hold a secret after its use. {@link WatchedArrays} sees also those that are local variables. */
class SecretsTest {

    private static final String SECRET = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";

    private final ZMTPCurveKeyPair serverKeys = CurveForge.SERVER;
    private final ZMTPCurveKeyPair clientKeys = CurveForge.CLIENT;
    private final WatchedArrays watched = new WatchedArrays();
    private final Queue<Runnable> atServer = new ArrayDeque<>();
    private final CurveServer server =
            new CurveServer(new StandaloneContext("ROUTER", atServer::add), watched.random(), serverKeys);
    private final CurveClient client =
            new CurveClient(new StandaloneContext("DEALER"), watched.random(), serverKeys.publicKey(), clientKeys);

    @TempDir
    private Path directory;

    @AfterEach
    void stopWatching() {
        watched.close();
    }

    private void computeAtServer() {
        while (!atServer.isEmpty()) {
            atServer.remove().run();
        }
    }

    private ByteBuf next(ZMTPMechanism side) {
        computeAtServer();
        ByteBuf command = side.poll();
        return command != null ? command : side.poll();
    }

    private void pass(ZMTPMechanism from, ZMTPMechanism to) {
        ByteBuf command = next(from);
        to.receive(command);
        command.release();
    }

    private void shakeHands() {
        pass(client, server);
        pass(server, client);
        pass(client, server);
        pass(server, client);
        assertThat(client.isReady() && server.isReady()).isTrue();
    }

    private static void send(ZMTPMechanism from, ZMTPMechanism to) {
        ByteBuf frame = Unpooled.buffer();
        from.cipher().seal(0, Unpooled.wrappedBuffer(Hex.bytes("61")), frame);
        to.cipher().open(frame);
        frame.release();
    }

    @Test
    void theSecretsOfAHandshakeAreWipedWhenItEnds() {
        shakeHands();
        List<String> left = watched.secretsLeft();
        assertThat(left).allMatch(secret -> secret.startsWith("state of a box"));
        assertThat(watched.keysSeen()).isGreaterThan(10);
    }

    @Test
    void theKeysOfTrafficAreWipedWhenTheConnectionEnds() {
        shakeHands();
        send(client, server);
        send(server, client);
        assertThat(watched.secretsLeft()).isNotEmpty();
        client.close();
        server.close();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void aServerThatIsClosedBetweenTwoCommandsWipesItsSecrets() {
        pass(client, server);
        pass(server, client);
        assertThat(watched.secretsLeft()).isNotEmpty();
        client.close();
        server.close();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void aServerOfPlainThatIsClosedBeforeTheDecisionWipesThePassword() {
        StandaloneContext context = spy(new StandaloneContext("ROUTER"));
        PlainServer plain = new PlainServer(context);
        ByteBuf hello = Unpooled.wrappedBuffer(Hex.bytes("05 \"HELLO\" 01 \"u\" 06 \"secret\""));
        plain.receive(hello);
        hello.release();
        ArgumentCaptor<List<ByteBuffer>> credentials = ArgumentCaptor.captor();
        verify(context).authenticate(any(), any(), credentials.capture(), any());
        ByteBuffer password = credentials.getValue().get(1);
        assertThat(StandardCharsets.US_ASCII.decode(password.duplicate()).toString())
                .isEqualTo("secret");
        plain.close();
        byte[] left = new byte[password.clear().remaining()];
        password.get(left);
        assertThat(left).containsOnly(0);
    }

    @Test
    void aCookieKeyIsWipedBeforeTheDecision() {
        ZMTPMechanism.Context undecided = spy(new StandaloneContext("ROUTER", atServer::add));
        doNothing().when(undecided).authenticate(any(), any(), any(), any());
        CurveServer waiting = new CurveServer(undecided, watched.random(), serverKeys);
        pass(client, waiting);
        pass(waiting, client);
        byte[] cookieKey = (byte[]) field(waiting, "cookieKey");
        assertThat(cookieKey).isNotEqualTo(new byte[32]);
        pass(client, waiting);
        computeAtServer();
        assertThat(waiting.poll()).isNull();
        assertThat(cookieKey).isEqualTo(new byte[32]);
        client.close();
        waiting.close();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void aForgedInitiateLeavesNoSecretAfterTheEnd() {
        CurveForge forge = new CurveForge();
        watched.close(); // what the forge computes is its own
        server.receive(Unpooled.wrappedBuffer(CurveForge.helloBody()));
        ByteBuf welcome = next(server);
        byte[] initiate =
                forge.initiateBody(ByteBufUtil.getBytes(welcome), clientKeys.publicKey(), CurveForge.metadata(DEALER));
        welcome.release();
        try (WatchedArrays later = new WatchedArrays()) {
            server.receive(Unpooled.wrappedBuffer(initiate));
            computeAtServer();
            assertThatThrownBy(server::poll).isInstanceOf(ZMTPException.class);
            server.close();
            assertThat(later.keysSeen()).isPositive();
            assertThat(later.secretsLeft()).isEmpty();
        }
    }

    @Test
    void aCloseBeforeAComputationBeginsWipesAtOnce() {
        pass(client, server);
        server.close();
        client.close();
        assertThat(server.longTermSecret()).isEqualTo(new byte[32]);
        computeAtServer();
        assertThat(server.poll()).isNull();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void aCloseWhileAStepRunsWipesAfterTheStep() {
        List<byte[]> during = new ArrayList<>();
        CurveServer[] closed = new CurveServer[1];
        SecureRandom closing = new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                if (during.isEmpty()) {
                    closed[0].close();
                }
                during.add(closed[0].longTermSecret().clone());
                super.nextBytes(bytes);
            }
        };
        closed[0] = new CurveServer(new StandaloneContext("ROUTER"), closing, serverKeys);
        pass(client, closed[0]);
        assertThat(during).isNotEmpty().containsOnly(serverKeys.secretKey());
        assertThat(closed[0].longTermSecret()).isEqualTo(new byte[32]);
        client.close();
        server.close();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    private static Object field(Object of, String name) {
        try {
            Field field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(of);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    // Keys and files

    @Test
    void theCharactersOfASecretKeyAreWiped() {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        pair.destroy();
        assertThat(watched.keysSeen()).isPositive();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void savingAKeyLeavesNoCopy() throws IOException {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        pair.save(directory.resolve("key"));
        pair.destroy();
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void loadingAKeyLeavesNoCopy() throws IOException {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        Path file = directory.resolve("key");
        pair.save(file);
        pair.destroy();
        ZMTPCurveKeyPair.load(file).destroy();
        assertThat(watched.filesRead())
                .hasSize(1)
                .allSatisfy(read -> assertThat((byte[]) field(read, "content")).containsOnly(0));
        assertThat(watched.secretsLeft()).isEmpty();
    }

    @Test
    void aKeyThatDoesNotFitItsFileIsWiped() throws IOException {
        Path file = Files.createFile(
                directory.resolve("key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, "public-key = \"%s\"\nsecret-key = \"%s\"\n".formatted(clientKeys.publicKey(), SECRET));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file)).isInstanceOf(IOException.class);
        assertThat(watched.keysSeen()).isPositive();
        assertThat(watched.secretsLeft()).isEmpty();
    }
}
