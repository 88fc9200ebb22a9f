package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.wire.Command;
import dev.zmtp.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What both sides of CURVE do: multiply points on another thread, count nonces, and wipe what is secret.
 *
 * <p>One computation runs at a time, with the secrets of this side; the event loop stays away from them meanwhile, and who
 * closes leaves wiping to the computation.
 */
abstract class CurveSide implements ZMTPMechanism {

    /** Octets of a short nonce on the wire. */
    static final int SHORT_NONCE_LENGTH = Long.BYTES;
    /** Octets of a long nonce on the wire. */
    static final int LONG_NONCE_LENGTH = 16;

    static final int KEY_LENGTH = Curve25519.KEY_LENGTH;
    static final int MAC_LENGTH = SecretBox.MAC_LENGTH;

    /** 1.0, in one octet each. */
    static final int VERSION = 0x0100;
    /** Octets behind the version. */
    static final int PADDING = 72;
    /** Octets of zeros in the box of a HELLO. */
    static final int SIGNATURE_LENGTH = 64;
    /** Octets of a cookie. */
    static final int COOKIE_LENGTH = 96;

    static final byte[] HELLO_NONCE = ascii("CurveZMQHELLO---");
    static final byte[] INITIATE_NONCE = ascii("CurveZMQINITIATE");
    static final byte[] READY_NONCE = ascii("CurveZMQREADY---");
    static final byte[] CLIENT_NONCE = ascii("CurveZMQMESSAGEC");
    static final byte[] SERVER_NONCE = ascii("CurveZMQMESSAGES");
    static final byte[] WELCOME_NONCE = ascii("WELCOME-");
    static final byte[] COOKIE_NONCE = ascii("COOKIE--");
    static final byte[] VOUCH_NONCE = ascii("VOUCH---");

    private enum Life {
        IDLE,
        COMPUTING,
        /** Closed while it computes: the computation wipes. */
        CLOSING,
        CLOSED
    }

    final Context context;
    final SecureRandom random;

    private Life life = Life.IDLE;
    private volatile @Nullable Supplier<@Nullable ByteBuf> computed;

    private @Nullable FrameCipher cipher;
    private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

    CurveSide(Context context, SecureRandom random) {
        this.context = context;
        this.random = random;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public final String name() {
        return ZMTPAuthRequest.CURVE;
    }

    /**
     * Runs {@code work} elsewhere. What it returns runs on the event loop at the next {@link #poll}, which returns the
     * command that it makes, if any; so does its exception.
     */
    final void compute(Supplier<Supplier<@Nullable ByteBuf>> work) {
        if (!enter(Life.IDLE, Life.COMPUTING)) {
            return;
        }
        try {
            context.executor().execute(() -> run(work));
        } catch (RejectedExecutionException e) {
            enter(Life.COMPUTING, Life.IDLE);
            throw new IllegalStateException("handshake executor: full (expected: room for one more)", e);
        } catch (RuntimeException | Error e) {
            enter(Life.COMPUTING, Life.IDLE); // nobody else will wipe
            throw e;
        }
    }

    private void run(Supplier<Supplier<@Nullable ByteBuf>> work) {
        Supplier<@Nullable ByteBuf> next = () -> null;
        if (!isClosing()) {
            try {
                next = work.get();
            } catch (RuntimeException | Error e) {
                next = () -> {
                    throw e;
                };
            }
        }
        if (over(next)) {
            context.resume();
        } else {
            wipe();
        }
    }

    /** Both at once: who finds the result may compute again. */
    private synchronized boolean over(Supplier<@Nullable ByteBuf> next) {
        computed = next;
        return enter(Life.COMPUTING, Life.IDLE);
    }

    private synchronized boolean isClosing() {
        return life != Life.COMPUTING;
    }

    private synchronized boolean enter(Life from, Life to) {
        if (life != from) {
            return false;
        }
        life = to;
        return true;
    }

    @Override
    public final @Nullable ByteBuf poll() {
        Supplier<@Nullable ByteBuf> next = computed;
        if (next != null) {
            computed = null;
            return next.get();
        }
        return next();
    }

    /** The next command, if there is one without a computation. */
    abstract @Nullable ByteBuf next();

    final void succeed(ZMTPMetadata peer, FrameCipher cipher) {
        this.peer = peer;
        this.cipher = cipher;
    }

    @Override
    public final ZMTPMetadata peerMetadata() {
        return peer;
    }

    @Override
    public final @Nullable FrameCipher cipher() {
        return cipher;
    }

    @Override
    public final void close() {
        if (cipher instanceof CurveCipher frames) {
            frames.wipe();
        }
        boolean computing;
        synchronized (this) {
            computing = life == Life.COMPUTING;
            life = computing ? Life.CLOSING : Life.CLOSED;
        }
        if (!computing) {
            wipe();
        }
    }

    /** Wipes all secrets. No computation is running. */
    abstract void wipe();

    static void wipe(byte @Nullable [] secret) {
        if (secret != null) {
            Arrays.fill(secret, (byte) 0);
        }
    }

    /** A nonce of 24 octets that starts with {@code prefix} of 8 and goes on with 16 at random. */
    final byte[] longNonce(byte[] prefix) {
        byte[] tail = new byte[LONG_NONCE_LENGTH];
        random.nextBytes(tail);
        return longNonce(prefix, tail);
    }

    static byte[] longNonce(byte[] prefix, byte[] tail) {
        return ByteBuffer.allocate(SecretBox.NONCE_LENGTH).put(prefix).put(tail).array();
    }

    /** The part of a long nonce that travels. */
    static byte[] tail(byte[] longNonce) {
        return Arrays.copyOfRange(longNonce, longNonce.length - LONG_NONCE_LENGTH, longNonce.length);
    }

    /** A box of {@code plain}, under a key and a nonce of 24 octets. */
    static byte[] seal(byte[] key, byte[] nonce, byte[] plain) {
        byte[] box = new byte[MAC_LENGTH + plain.length];
        System.arraycopy(plain, 0, box, MAC_LENGTH, plain.length);
        SecretBox boxes = new SecretBox(key, Arrays.copyOf(nonce, SecretBox.PREFIX_LENGTH));
        boxes.seal(shortNonce(nonce), Unpooled.wrappedBuffer(box), MAC_LENGTH, plain.length);
        boxes.wipe();
        return box;
    }

    /**
     * The content of a box.
     *
     * @throws ZMTPException if it is not what was sealed under this key and nonce; that says nothing about why
     */
    static byte[] open(String what, byte[] key, byte[] nonce, byte[] box) {
        SecretBox boxes = new SecretBox(key, Arrays.copyOf(nonce, SecretBox.PREFIX_LENGTH));
        byte[] copy = box.clone();
        try {
            if (!boxes.open(shortNonce(nonce), Unpooled.wrappedBuffer(copy), MAC_LENGTH, box.length - MAC_LENGTH)) {
                throw ZMTPException.malformed(what, "a box that does not open", "one for our key");
            }
            return Arrays.copyOfRange(copy, MAC_LENGTH, copy.length);
        } finally {
            boxes.wipe();
            wipe(copy);
        }
    }

    private static long shortNonce(byte[] nonce) {
        return ByteBuffer.wrap(nonce).getLong(SecretBox.PREFIX_LENGTH);
    }

    /**
     * The body of a command: {@code clear}, a short nonce, and a box under it with {@code first} and our metadata.
     *
     * @param prefix what the nonce starts with
     */
    final ByteBuf sealed(Command command, byte[] clear, byte[] key, byte[] prefix, long shortNonce, byte[] first) {
        ZMTPMetadata local = context.localMetadata();
        int length = first.length + Metadata.length(local);
        ByteBuf body = command.body(context.alloc(), clear.length + SHORT_NONCE_LENGTH + MAC_LENGTH + length)
                .writeBytes(clear)
                .writeLong(shortNonce)
                .writeZero(MAC_LENGTH);
        int start = body.writerIndex();
        Metadata.write(body.writeBytes(first), local);
        SecretBox boxes = new SecretBox(key, prefix);
        boxes.seal(shortNonce, body, start, length);
        boxes.wipe();
        return body;
    }

    static byte[] joined(byte[]... parts) {
        ByteBuf all = Unpooled.wrappedBuffer(parts);
        return take(all, all.readableBytes());
    }

    /** A nonce of 24 octets that ends with a short one. */
    static byte[] nonce(byte[] prefix, long shortNonce) {
        return ByteBuffer.allocate(SecretBox.NONCE_LENGTH)
                .put(prefix)
                .putLong(shortNonce)
                .array();
    }

    static byte[] take(ByteBuf in, int length) {
        byte[] octets = new byte[length];
        in.readBytes(octets);
        return octets;
    }

    static void checkLength(String what, int length, int expected) {
        if (length != expected) {
            throw ZMTPException.malformed(what + " length", length, String.valueOf(expected));
        }
    }

    static void checkAtLeast(String what, int length, int least) {
        if (length < least) {
            throw ZMTPException.malformed(what + " length", length, ">= " + least);
        }
    }
}
