package dev.zmtp.security;

import static dev.zmtp.security.CurveBoxes.CLIENT_NONCE;
import static dev.zmtp.security.CurveBoxes.COOKIE_LENGTH;
import static dev.zmtp.security.CurveBoxes.HELLO_NONCE;
import static dev.zmtp.security.CurveBoxes.INITIATE_NONCE;
import static dev.zmtp.security.CurveBoxes.KEY_LENGTH;
import static dev.zmtp.security.CurveBoxes.LONG_NONCE_LENGTH;
import static dev.zmtp.security.CurveBoxes.PADDING;
import static dev.zmtp.security.CurveBoxes.READY_NONCE;
import static dev.zmtp.security.CurveBoxes.SERVER_NONCE;
import static dev.zmtp.security.CurveBoxes.SHORT_NONCE_LENGTH;
import static dev.zmtp.security.CurveBoxes.SIGNATURE_LENGTH;
import static dev.zmtp.security.CurveBoxes.VERSION;
import static dev.zmtp.security.CurveBoxes.VOUCH_NONCE;
import static dev.zmtp.security.CurveBoxes.WELCOME_NONCE;
import static dev.zmtp.security.CurveBoxes.checkAtLeast;
import static dev.zmtp.security.CurveBoxes.checkLength;
import static dev.zmtp.security.CurveBoxes.command;
import static dev.zmtp.security.CurveBoxes.concat;
import static dev.zmtp.security.CurveBoxes.longNonce;
import static dev.zmtp.security.CurveBoxes.nonce;
import static dev.zmtp.security.CurveBoxes.open;
import static dev.zmtp.security.CurveBoxes.readBytes;
import static dev.zmtp.security.CurveBoxes.seal;
import static dev.zmtp.security.CurveBoxes.sentPart;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * CURVE side that knows the server's public key (RFC 26, "Authentication Handshake").
 *
 * <pre>
 *   C: HELLO      our transient key, and a box of zeros to the server's key
 *   S: WELCOME    the server's transient key and a cookie, in a box
 *   C: INITIATE   the cookie, and our long-term key, a vouch for both and metadata, in a box
 *   S: READY      metadata, in a box
 * </pre>
 *
 * <p>Capital letters are public keys, as in the RFC. S and C are long-term keys, while S' and C' belong to this
 * connection. Small letters are secret keys.
 */
final class CurveClient extends CurveSide {

    private static final int WELCOME_LENGTH = 160;
    private static final int READY_LENGTH = 24;

    private static final long HELLO_COUNT = 1;
    private static final long INITIATE_COUNT = 2;
    private static final long FIRST_MESSAGE = 3;

    private enum State {
        START,
        AWAIT_WELCOME,
        COMPUTING,
        AWAIT_READY,
        READY
    }

    private final byte[] serverKey;

    private State state = State.START;

    private byte @Nullable [] transientKey;
    /** Key of HELLO and WELCOME, from c' and S. */
    private byte @Nullable [] helloKey;

    CurveClient(Context context, SecureRandom random, ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
        super(context, random, own);
        this.serverKey = server.bytes();
    }

    @Override
    public @Nullable ByteBuf poll() {
        Supplier<@Nullable ByteBuf> result = computation.takeResult();
        if (result != null) {
            return result.get();
        }
        if (state == State.START) {
            longTermSecret(); // before the peer is asked to compute
            state = State.COMPUTING;
            computation.start(() -> {
                byte[] secret = Curve25519.generateSecretKey(random);
                transientSecret = secret;
                transientKey = Curve25519.publicKey(secret);
                helloKey = Curve25519.sharedKey(secret, serverKey);
                return this::hello;
            });
        }
        return null;
    }

    private ByteBuf hello() {
        state = State.AWAIT_WELCOME;
        byte[] box =
                seal(Objects.requireNonNull(helloKey), nonce(HELLO_NONCE, HELLO_COUNT), new byte[SIGNATURE_LENGTH]);
        return Command.HELLO
                .body(context.alloc(), Short.BYTES + PADDING + KEY_LENGTH + SHORT_NONCE_LENGTH + box.length)
                .writeShort(VERSION)
                .writeZero(PADDING)
                .writeBytes(Objects.requireNonNull(transientKey))
                .writeLong(HELLO_COUNT)
                .writeBytes(box);
    }

    @Override
    public void receive(ByteBuf command) {
        switch (state) {
            case AWAIT_WELCOME -> {
                HandshakeCommands.expect(command, Command.WELCOME);
                welcome(command);
            }
            case AWAIT_READY -> {
                HandshakeCommands.expect(command, Command.READY);
                ready(command);
            }
            default -> throw HandshakeCommands.unexpected(Command.read(command), "none in " + state);
        }
    }

    private void welcome(ByteBuf data) {
        checkLength("WELCOME data", data.readableBytes(), WELCOME_LENGTH);
        byte[] nonce = longNonce(WELCOME_NONCE, readBytes(data, LONG_NONCE_LENGTH));
        byte[] opened = open("WELCOME", Objects.requireNonNull(helloKey), nonce, readBytes(data, data.readableBytes()));
        byte[] serverTransientKey = Arrays.copyOf(opened, KEY_LENGTH);
        byte[] cookie = Arrays.copyOfRange(opened, KEY_LENGTH, KEY_LENGTH + COOKIE_LENGTH);
        state = State.COMPUTING;
        computation.start(() -> {
            byte[] vouchKey = Curve25519.sharedKey(longTermSecret(), serverTransientKey);
            byte[] vouchNonce = longNonce(VOUCH_NONCE, random);
            byte[] vouch = seal(vouchKey, vouchNonce, concat(Objects.requireNonNull(transientKey), serverKey));
            CurveBoxes.wipe(vouchKey);
            sessionKey = Curve25519.sharedKey(Objects.requireNonNull(transientSecret), serverTransientKey);
            return () -> initiate(cookie, concat(longTermKey, sentPart(vouchNonce), vouch));
        });
    }

    private ByteBuf initiate(byte[] cookie, byte[] keyAndVouch) {
        state = State.AWAIT_READY;
        byte[] key = Objects.requireNonNull(sessionKey);
        return command(Command.INITIATE, context, cookie, key, INITIATE_NONCE, INITIATE_COUNT, keyAndVouch);
    }

    private void ready(ByteBuf data) {
        checkAtLeast("READY data", data.readableBytes(), READY_LENGTH);
        byte[] key = Objects.requireNonNull(sessionKey);
        long count = data.readLong();
        CurveCipher.checkCount(count, 0);
        byte[] metadata = open("READY", key, nonce(READY_NONCE, count), readBytes(data, data.readableBytes()));
        peer = context.readPeerMetadata(Unpooled.wrappedBuffer(metadata));
        state = State.READY;
        succeed(new CurveCipher(
                new SecretBox(key, CLIENT_NONCE), FIRST_MESSAGE, new SecretBox(key, SERVER_NONCE), count));
    }

    /** Returns null, because only servers send ERROR. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return null;
    }

    @Override
    void wipeOwnKey() {
        CurveBoxes.wipe(helloKey);
    }
}
