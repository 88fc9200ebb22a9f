package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What libsodium has worked with does not stay in memory. */
@ParameterizedClass(allowZeroInvocations = true) // libsodium may be missing outside of CI
@MethodSource("dev.zmtp.security.CurveLibraries#libsodium")
class LibsodiumMemoryTest {

    private static final int MAC = SecretBox.MAC_LENGTH;
    private static final int LENGTH = 5000;

    @Parameter
    private Libsodium libsodium;

    private final Random random = new Random(26);
    private final byte[] derived = bytes(32);
    private final byte[] plain = bytes(LENGTH);

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private ByteBuf buffer(boolean direct) {
        ByteBuf data = direct ? Unpooled.directBuffer(MAC + LENGTH) : Unpooled.buffer(MAC + LENGTH);
        return data.writeZero(MAC).writeBytes(plain);
    }

    /** Seals what is in {@code data}. */
    private void seal(BoxCipher cipher, ByteBuf data) {
        byte[] mac = new byte[MAC];
        cipher.begin(1);
        cipher.crypt(data, MAC, 0, LENGTH);
        cipher.authenticate(data, MAC, LENGTH);
        cipher.mac(mac);
        cipher.end();
        data.setBytes(0, mac);
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(LibsodiumMemories.content(libsodium)).containsOnly(0);
    }

    @Test
    void thePublicKeyOfASecretOne() {
        libsodium.publicKey(bytes(32));
    }

    @Test
    void whatTwoKeysAgreeOn() {
        libsodium.agree(bytes(32), bytes(32), new byte[32]);
    }

    @Test
    void aDerivedKey() {
        libsodium.derive(bytes(32), bytes(16));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theKeysOfASealedAndAnOpenedBox(boolean direct) {
        ByteBuf data = buffer(direct);
        SecretBox boxes = new SecretBox(libsodium, derived, bytes(16));
        boxes.seal(1, data, MAC, LENGTH);
        nothingIsLeft();
        boxes.open(1, data, MAC, LENGTH);
        nothingIsLeft();
        boxes.open(1, data, MAC, LENGTH); // it is open, so this does not work
        data.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 32, 100, 2015, 2048, 2049})
    void theKeysAndTheTextOfAShortBox(int length) {
        ByteBuf data = buffer(true);
        SecretBox boxes = new SecretBox(libsodium, derived, bytes(16));
        boxes.seal(1, data, MAC, length);
        nothingIsLeft();
        assertThat(boxes.open(1, data, MAC, length)).isTrue();
        nothingIsLeft();
        assertThat(boxes.open(2, data, MAC, length)).isFalse();
        nothingIsLeft();
        assertThatThrownBy(() -> boxes.open(1, data, MAC + LENGTH, length + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        data.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theKeysOfABoxThatIsOpenInPart(boolean direct) {
        ByteBuf data = buffer(direct);
        SecretBox boxes = new SecretBox(libsodium, derived, bytes(16));
        boxes.seal(1, data, MAC, LENGTH);
        boxes.begin(1);
        boxes.openPart(data, MAC, 4500);
        data.release();
    }

    @Test
    void theKeysOfABoxThatIsNotInItsBuffer() {
        ByteBuf data = buffer(true);
        SecretBox boxes = new SecretBox(libsodium, derived, bytes(16));
        assertThatThrownBy(() -> boxes.seal(1, data, MAC, LENGTH + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        nothingIsLeft();
        assertThatThrownBy(() -> boxes.open(1, data, MAC, LENGTH + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        boxes.begin(1);
        assertThatThrownBy(() -> boxes.openPart(data, MAC, LENGTH + 100)).isInstanceOf(IndexOutOfBoundsException.class);
        data.release();
    }

    @Test
    void theStateBetweenTwoPartsIsWipedByTheNextOne() {
        ByteBuf data = buffer(true);
        LibsodiumCipher cipher = new LibsodiumCipher(libsodium, derived);
        seal(cipher, data);
        cipher.begin(1);
        cipher.authenticate(data, MAC, 32);
        cipher.pause();
        byte[] state = cipher.pausedState();
        assertThat(state).isNotEqualTo(new byte[LibsodiumMemory.STATE_LENGTH]);
        cipher.resume();
        assertThat(state).containsOnly(0);
        cipher.end();
        data.release();
    }

    @Test
    void theKeyAndTheStateAreWipedWhenTheConnectionEnds() {
        ByteBuf data = buffer(true);
        LibsodiumCipher cipher = new LibsodiumCipher(libsodium, derived);
        cipher.begin(1);
        cipher.authenticate(data, MAC, 32);
        cipher.pause();
        cipher.wipe();
        assertThat(derived).containsOnly(0);
        assertThat(cipher.pausedState()).containsOnly(0);
        data.release();
    }

    /** The memory that a thread works in. */
    private LibsodiumMemory usedBy(Function<Runnable, Thread> thread) throws InterruptedException {
        AtomicReference<LibsodiumMemory> used = new AtomicReference<>();
        Thread worker = thread.apply(() -> {
            LibsodiumMemory memory = libsodium.memory();
            used.set(memory);
            memory.wipe();
        });
        worker.start();
        worker.join();
        return used.get();
    }

    @Test
    void threadsThatComeAndGoShareTheMemoryThatIsNotInUse() throws InterruptedException {
        LibsodiumMemory first = usedBy(Thread::new);
        assertThat(usedBy(Thread::new)).isSameAs(first);
        LibsodiumMemory inUse = libsodium.memory();
        assertThat(inUse).isSameAs(first);
        assertThat(usedBy(Thread::new)).isNotSameAs(first);
        inUse.wipe();
    }

    @Test
    void aThreadOfNettyHasMemoryOfItsOwn() throws InterruptedException {
        LibsodiumMemory shared = usedBy(Thread::new);
        assertThat(usedBy(FastThreadLocalThread::new)).isNotSameAs(shared);
        assertThat(usedBy(Thread::new)).isSameAs(shared);
    }
}
