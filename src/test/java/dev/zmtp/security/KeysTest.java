package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zmtp.testing.Hex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys in text and in files (RFC 26, 32 and 4). */
class KeysTest {

    /** The keys of an example in the manual of libzmq, zmq_curve(7): those of the server. */
    private static final String PUBLIC = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";

    private static final String SECRET = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";

    @TempDir
    private Path directory;

    @Test
    void z85EncodesTheExampleOfItsSpecification() {
        assertThat(Z85.encode(Hex.bytes("864fd26fb559f75b")))
                .isEqualTo("HelloWorld".getBytes(StandardCharsets.US_ASCII));
        assertThat(Z85.decode("x", "HelloWorld".getBytes(StandardCharsets.US_ASCII), 8))
                .isEqualTo(Hex.bytes("864fd26fb559f75b"));
        assertThat(Z85.decode("x", "%nSc0".getBytes(StandardCharsets.US_ASCII), 4))
                .isEqualTo(Hex.bytes("ff*4"));
    }

    @Test
    void aPublicKeyIsDerivedFromItsSecretKey() {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        assertThat(pair.publicKey().z85()).isEqualTo(PUBLIC);
        assertThat(pair.publicKey()).isEqualTo(ZMTPCurvePublicKey.of(PUBLIC));
        assertThat(ZMTPCurveKeyPair.fromSecretKey(pair.secretKey()).publicKey()).isEqualTo(pair.publicKey());
    }

    @Test
    void everyNewKeyIsDifferent() {
        assertThat(ZMTPCurveKeyPair.generate().publicKey())
                .isNotEqualTo(ZMTPCurveKeyPair.generate().publicKey());
    }

    @ParameterizedTest
    @CsvSource({
        "'', 'public key length: 0 (expected: 40 characters of Z85)'",
        "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf, 'public key length: 39 (expected: 40 characters of Z85)'",
        "'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf ', 'public key: character 40 is not in the Z85 alphabet,"
                + " 0-9 a-z A-Z .-:+=^!/*?&<>()[]{}@%$#'",
        "%nSc1>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7, 'public key: characters 1 to 5 encode more than 32 bits"
                + " (expected: at most %nSc0)'"
    })
    void anInvalidPublicKeyIsRefusedWithThePlaceOfTheFault(String text, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurvePublicKey.of(text))
                .withMessage(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh~", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lhä"})
    void anInvalidSecretKeyIsNotRepeated(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurveKeyPair.fromSecretKey(text.toCharArray()))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("JTKVSB"));
    }

    /** The last eight bits of both are those of an "a". */
    @ParameterizedTest
    @ValueSource(chars = {'\u0161', '\uff61'})
    void aCharacterWhoseLowByteIsOfZ85IsRefused(char character) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurvePublicKey.of(PUBLIC.replace('?', character)))
                .withMessageStartingWith("public key: character 9 is not in the Z85 alphabet");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurveKeyPair.fromSecretKey(
                        SECRET.replace('?', character).toCharArray()))
                .withMessageStartingWith("secret key: character 22 is not in the Z85 alphabet");
    }

    @Test
    void changingABytesArrayChangesNoKey() {
        byte[] secret = Hex.bytes("01*32");
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(secret);
        secret[0]++;
        pair.secretKey()[1]++;
        assertThat(pair.secretKey()).isEqualTo(Hex.bytes("01*32"));

        byte[] bytes = pair.publicKey().bytes();
        ZMTPCurvePublicKey key = ZMTPCurvePublicKey.of(bytes);
        bytes[0]++;
        key.bytes()[1]++;
        assertThat(key).isEqualTo(pair.publicKey());
    }

    @Test
    void keysHave32Bytes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurvePublicKey.of(new byte[31]))
                .withMessage("public key length: 31 (expected: 32)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCurveKeyPair.fromSecretKey(new byte[33]))
                .withMessage("secret key length: 33 (expected: 32)");
    }

    @Test
    void noSecretIsShown() {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        assertThat(pair.toString()).isEqualTo("ZMTPCurveKeyPair{publicKey=" + PUBLIC + "}");
    }

    @Test
    void aDestroyedKeyCannotBeUsed() {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        assertThat(pair.isDestroyed()).isFalse();
        pair.destroy();
        assertThat(pair.isDestroyed()).isTrue();
        assertThat(pair).extracting("secretKey").isEqualTo(new byte[32]);
        assertThatThrownBy(pair::secretKey).hasMessage("key pair: destroyed (expected: in use)");
        assertThatThrownBy(() -> pair.save(directory.resolve("key"))).isInstanceOf(IllegalStateException.class);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void onlyTheOwnerCanReadASavedKey() throws IOException {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.generate();
        Path file = directory.resolve("server.key_secret");
        pair.save(file);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        ZMTPCurveKeyPair loaded = ZMTPCurveKeyPair.load(file);
        assertThat(loaded.publicKey()).isEqualTo(pair.publicKey());
        assertThat(loaded.secretKey()).isEqualTo(pair.secretKey());
        assertThatThrownBy(() -> pair.save(file)).isInstanceOf(FileAlreadyExistsException.class);
    }

    @Test
    void aSavedPublicKeyHoldsNoSecret() throws IOException {
        ZMTPCurvePublicKey key = ZMTPCurvePublicKey.of(PUBLIC);
        Path file = directory.resolve("server.key");
        key.save(file);
        assertThat(ZMTPCurvePublicKey.load(file)).isEqualTo(key);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no secret-key");
    }

    @Test
    void aSecretKeyThatEveryoneCanReadIsRefused() throws IOException {
        Path file = directory.resolve("server.key_secret");
        ZMTPCurveKeyPair.generate().save(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("readable by everyone");
    }

    private Path file(String content) throws IOException {
        Path file = Files.createFile(
                directory.resolve("key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, content);
    }

    /** As zmq.auth.create_certificates of pyzmq, and CZMQ's zcert, write them. */
    @Test
    void filesOfOtherLibrariesAreRead() throws IOException {
        Path file = file("""
                #   ****  Generated on 2026-01-01 00:00:00 by pyzmq  ****
                #   ZeroMQ CURVE **Secret** Certificate
                #   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

                metadata
                    name = "public-key"
                curve
                    public-key = "%s"
                    secret-key = "%s"
                """.formatted(PUBLIC, SECRET));
        assertThat(ZMTPCurveKeyPair.load(file).publicKey()).isEqualTo(ZMTPCurvePublicKey.of(PUBLIC));
        assertThat(ZMTPCurvePublicKey.load(file)).isEqualTo(ZMTPCurvePublicKey.of(PUBLIC));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "secret-key",
                "secret-key = ",
                "secret-key = \"",
                "secret-key = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6",
                "secret-key = \"JTKVSB\"",
                "secret-keys = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"",
                "my-secret-key = \"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\""
            })
    void aFileWithoutASecretKeyIsRefusedAndNotRepeated(String content) throws IOException {
        Path file = file("public-key = \"" + PUBLIC + "\"\n" + content);
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + ": ")
                .hasMessageContaining("secret-key")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("JTKVSB"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "public-key = \"%s\"\nsecret-key = \"%s\"",
                "public-key=\"%s\"\nsecret-key=\"%s\"",
                "\tpublic-key = \"%s\"\n\tsecret-key = \"%s\"\n",
                "public-key\t=\t\"%s\"\r\n \t secret-key\t= \"%s\"\r\n",
                "public-keys = \"x\"\npublic-key = \"%s\"\nsecret-keys = \"x\"\nsecret-key = \"%s\""
            })
    void aLineMayBeSpacedInAnyWay(String content) throws IOException {
        Path file = file(content.formatted(PUBLIC, SECRET));
        assertThat(ZMTPCurveKeyPair.load(file).publicKey().z85()).isEqualTo(PUBLIC);
    }

    @Test
    void aSavedPublicKeyReplacesNoFile() throws IOException {
        Path file = file("something else");
        assertThatThrownBy(() -> ZMTPCurvePublicKey.of(PUBLIC).save(file))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasContent("something else");
    }

    /** A ZIP file is such a file system. */
    @Test
    void aFileSystemWithoutPermissionsKeepsNoSecretKey() throws IOException {
        ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray());
        try (FileSystem zip = FileSystems.newFileSystem(directory.resolve("keys.zip"), Map.of("create", "true"))) {
            Path file = zip.getPath("/key");
            assertThatThrownBy(() -> pair.save(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("on a file system without POSIX permissions");
            assertThat(Files.exists(file)).isFalse();
            pair.publicKey().save(file);
            assertThat(ZMTPCurvePublicKey.load(file)).isEqualTo(pair.publicKey());
        }
    }

    /** A path of a file system that is full after some bytes, and what was written to it. */
    private static final class FullDisk {
        private final Path path = mock(Path.class);
        private final FileSystemProvider provider = mock(FileSystemProvider.class);
        private final List<ByteBuffer> written = new ArrayList<>();

        FullDisk() throws IOException {
            FileSystem system = mock(FileSystem.class);
            SeekableByteChannel channel = mock(SeekableByteChannel.class);
            when(path.getFileSystem()).thenReturn(system);
            when(system.provider()).thenReturn(provider);
            when(system.supportedFileAttributeViews()).thenReturn(Set.of("basic", "posix"));
            when(provider.newByteChannel(eq(path), any(), any(FileAttribute[].class)))
                    .thenReturn(channel);
            when(channel.write(any()))
                    .thenAnswer(call -> {
                        ByteBuffer content = call.getArgument(0);
                        written.add(content);
                        content.position(50);
                        return 50;
                    })
                    .thenThrow(new IOException("no space left"));
        }
    }

    @Test
    void aFileThatCouldNotBeWrittenWholeIsDeleted() throws IOException {
        FullDisk disk = new FullDisk();
        assertThatThrownBy(() ->
                        ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray()).save(disk.path))
                .hasMessage("no space left");
        verify(disk.provider).deleteIfExists(disk.path);
        assertThat(disk.written)
                .singleElement()
                .satisfies(content -> assertThat(content.clear()).isEqualTo(ByteBuffer.allocate(content.capacity())));

        FullDisk another = new FullDisk();
        assertThatThrownBy(() -> ZMTPCurvePublicKey.of(PUBLIC).save(another.path))
                .hasMessage("no space left");
        verify(another.provider).deleteIfExists(another.path);
    }

    @Test
    void aFileThatExistsIsNotDeleted() throws IOException {
        Path file = file("something else");
        assertThatThrownBy(() ->
                        ZMTPCurveKeyPair.fromSecretKey(SECRET.toCharArray()).save(file))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(file).hasContent("something else");
    }

    @Test
    void aPublicKeyOfAnotherSecretKeyIsRefused() throws IOException {
        Path file = file("public-key = \"%s\"\nsecret-key = \"%s\"\n"
                .formatted(ZMTPCurveKeyPair.generate().publicKey(), SECRET));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(PUBLIC)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("JTKVSB"));
    }

    @Test
    void aFileMayHave64Kibibytes() throws IOException {
        Path file = file("#".repeat(64 << 10));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file)).hasMessageContaining("no secret-key");
    }

    @Test
    void aFileThatIsTooLongIsNotRead() throws IOException {
        Path file = file("#".repeat((64 << 10) + 1));
        assertThatThrownBy(() -> ZMTPCurveKeyPair.load(file)).hasMessageContaining("longer than 65536 bytes");
    }
}
