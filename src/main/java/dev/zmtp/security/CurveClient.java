package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The side of CURVE that knows the server's key (RFC 26, "Authentication Handshake").
 *
 * <pre>
 *   C: HELLO      our transient key, and a box of zeros to the server's key
 *   S: WELCOME    the server's transient key and a cookie, in a box
 *   C: INITIATE   the cookie, and our long-term key, a vouch for both and metadata, in a box
 *   S: READY      metadata, in a box
 * </pre>
 *
 * <p>Capital letters are public keys here, as in the RFC: S and C of long life, S' and C' of this connection.
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
    private final byte[] longTermSecret;
    private final byte[] longTermKey;

    private State state = State.START;

    private byte @Nullable [] transientSecret;
    private byte @Nullable [] transientKey;
    /** What HELLO and WELCOME travel under: c' with S. */
    private byte @Nullable [] helloKey;
    /** What everything later travels under: c' with S'. */
    private byte @Nullable [] sessionKey;

    CurveClient(Context context, SecureRandom random, ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
        super(context, random);
        this.serverKey = server.octets();
        this.longTermSecret = own.secretKey();
        this.longTermKey = own.publicKey().octets();
    }

    @Override
    @Nullable
    ByteBuf next() {
        if (state == State.START) {
            state = State.COMPUTING;
            compute(() -> {
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
                Secured.expect(command, Command.WELCOME);
                welcome(command);
            }
            case AWAIT_READY -> {
                Secured.expect(command, Command.READY);
                ready(command);
            }
            default -> throw Secured.unexpected(Command.read(command), "none in " + state);
        }
    }

    private void welcome(ByteBuf data) {
        checkLength("WELCOME data", data.readableBytes(), WELCOME_LENGTH);
        byte[] nonce = longNonce(WELCOME_NONCE, take(data, LONG_NONCE_LENGTH));
        byte[] opened = open("WELCOME", Objects.requireNonNull(helloKey), nonce, take(data, data.readableBytes()));
        byte[] serverTransientKey = Arrays.copyOf(opened, KEY_LENGTH);
        byte[] cookie = Arrays.copyOfRange(opened, KEY_LENGTH, KEY_LENGTH + COOKIE_LENGTH);
        state = State.COMPUTING;
        compute(() -> {
            byte[] vouchKey = Curve25519.sharedKey(longTermSecret, serverTransientKey);
            byte[] vouchNonce = longNonce(VOUCH_NONCE);
            byte[] vouch = seal(vouchKey, vouchNonce, joined(Objects.requireNonNull(transientKey), serverKey));
            wipe(vouchKey);
            sessionKey = Curve25519.sharedKey(Objects.requireNonNull(transientSecret), serverTransientKey);
            return () -> initiate(cookie, joined(longTermKey, tail(vouchNonce), vouch));
        });
    }

    private ByteBuf initiate(byte[] cookie, byte[] keyAndVouch) {
        state = State.AWAIT_READY;
        byte[] key = Objects.requireNonNull(sessionKey);
        return sealed(Command.INITIATE, cookie, key, INITIATE_NONCE, INITIATE_COUNT, keyAndVouch);
    }

    private void ready(ByteBuf data) {
        checkAtLeast("READY data", data.readableBytes(), READY_LENGTH);
        byte[] key = Objects.requireNonNull(sessionKey);
        long count = data.readLong();
        CurveCipher.checkCount(count, 0);
        byte[] metadata = open("READY", key, nonce(READY_NONCE, count), take(data, data.readableBytes()));
        ZMTPMetadata peer = context.readPeerMetadata(Unpooled.wrappedBuffer(metadata));
        state = State.READY;
        succeed(
                peer,
                new CurveCipher(
                        new SecretBox(key, CLIENT_NONCE), FIRST_MESSAGE, new SecretBox(key, SERVER_NONCE), count));
        wipe();
    }

    @Override
    public boolean isReady() {
        return state == State.READY;
    }

    /** Says nothing: only servers send ERROR. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return null;
    }

    @Override
    void wipe() {
        wipe(longTermSecret);
        wipe(transientSecret);
        wipe(helloKey);
        wipe(sessionKey);
    }
}
