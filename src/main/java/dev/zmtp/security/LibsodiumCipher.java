package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Salsa20 and Poly1305 of libsodium. The key is in native memory only while a thread works on a box. Between two parts
 * of a box, this object has the state of its MAC.
 */
final class LibsodiumCipher implements BoxCipher {

    private final Libsodium libsodium;
    private final byte[] key;

    private long nonce;

    /** State of the MAC of a suspended box. */
    private byte @Nullable [] state;

    /** Memory of the thread that works on a box. */
    private @Nullable LibsodiumMemory memory;

    LibsodiumCipher(Libsodium libsodium, byte[] derived) {
        this.libsodium = libsodium;
        key = derived;
    }

    @Override
    public void begin(long nonce) {
        this.nonce = nonce;
        memory = libsodium.memory();
        memory.begin(key, nonce);
    }

    @Override
    public void begin(long nonce, ByteBuf data, int index, int length) {
        if (LibsodiumMemory.isShort(length)) {
            memory = libsodium.memory();
            memory.beginShort(key, nonce, data, index, length);
        } else {
            begin(nonce);
        }
    }

    @Override
    public void pause() {
        if (state == null) {
            state = new byte[LibsodiumMemory.STATE_LENGTH];
        }
        memory().saveState(state);
        end();
    }

    @Override
    public void resume() {
        memory = libsodium.memory();
        memory.resume(key, nonce, Objects.requireNonNull(state));
        CurveBoxes.wipe(state);
    }

    @Override
    public void crypt(ByteBuf data, int index, int from, int to) {
        memory().crypt(data, index, from, to);
    }

    @Override
    public void authenticate(ByteBuf data, int index, int length) {
        memory().authenticate(data, index, length);
    }

    @Override
    public void mac(byte[] mac) {
        memory().mac(mac);
    }

    @Override
    public void end() {
        if (memory != null) {
            memory.wipe();
            memory = null;
        }
    }

    private LibsodiumMemory memory() {
        return Objects.requireNonNull(memory);
    }

    /** Returns the state of a suspended box, for a test. */
    byte @Nullable [] pausedState() {
        return state;
    }

    @Override
    public void wipe() {
        Arrays.fill(key, (byte) 0);
        CurveBoxes.wipe(state);
    }
}
