package dev.zmtp.security;

import static dev.zmtp.security.CurveBoxes.CLIENT_NONCE;
import static dev.zmtp.security.CurveBoxes.COOKIE_LENGTH;
import static dev.zmtp.security.CurveBoxes.COOKIE_NONCE;
import static dev.zmtp.security.CurveBoxes.HELLO_NONCE;
import static dev.zmtp.security.CurveBoxes.INITIATE_NONCE;
import static dev.zmtp.security.CurveBoxes.KEY_LENGTH;
import static dev.zmtp.security.CurveBoxes.LONG_NONCE_LENGTH;
import static dev.zmtp.security.CurveBoxes.MAC_LENGTH;
import static dev.zmtp.security.CurveBoxes.PADDING;
import static dev.zmtp.security.CurveBoxes.READY_NONCE;
import static dev.zmtp.security.CurveBoxes.SERVER_NONCE;
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
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * CURVE side whose public key the clients know (RFC 26, "Authentication Handshake"). See {@link CurveClient} for the
 * commands and the letters.
 */
final class CurveServer extends CurveSide {

    private static final int HELLO_LENGTH = 194;
    private static final int VOUCH_LENGTH = 80;
    private static final int INITIATE_LENGTH = 248;

    private static final long READY_COUNT = 1;
    private static final long FIRST_MESSAGE = 2;

    private enum State {
        AWAIT_HELLO,
        COMPUTING,
        AWAIT_INITIATE,
        AWAIT_DECISION,
        READY
    }

    private final AuthDecisionHandler authDecision;

    private State state = State.AWAIT_HELLO;

    /** Key C'. */
    private byte @Nullable [] peerTransientKey;

    private byte @Nullable [] cookieKey;

    /** Last short nonce of the peer. */
    private long lastCount;

    /** Whether the peer has proven that it has the secret key of its public key. */
    private boolean isProven;

    CurveServer(Context context, SecureRandom random, ZMTPCurveKeyPair own) {
        super(context, random, own);
        this.authDecision = new AuthDecisionHandler(context, name());
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public void receive(ByteBuf command) {
        switch (state) {
            case AWAIT_HELLO -> {
                HandshakeCommands.expect(command, Command.HELLO);
                hello(command);
            }
            case AWAIT_INITIATE -> {
                HandshakeCommands.expect(command, Command.INITIATE);
                initiate(command);
            }
            default -> throw HandshakeCommands.unexpected(Command.read(command), "none in " + state);
        }
    }

    private void hello(ByteBuf data) {
        byte[] secretKey = longTermSecret();
        checkLength("HELLO data", data.readableBytes(), HELLO_LENGTH);
        int version = data.readUnsignedShort();
        if (version != VERSION) {
            throw ZMTPException.malformed("CURVE version", (version >>> Byte.SIZE) + "." + (version & 0xff), "1.0");
        }
        data.skipBytes(PADDING);
        byte[] theirKey = readBytes(data, KEY_LENGTH);
        lastCount = data.readLong();
        CurveCipher.checkCount(lastCount, 0);
        byte[] nonce = nonce(HELLO_NONCE, lastCount);
        byte[] box = readBytes(data, MAC_LENGTH + SIGNATURE_LENGTH);
        state = State.COMPUTING;
        computation.start(() -> {
            byte[] helloKey = Curve25519.sharedKey(secretKey, theirKey);
            try {
                if (!MessageDigest.isEqual(open("HELLO", helloKey, nonce, box), new byte[SIGNATURE_LENGTH])) {
                    throw ZMTPException.malformed("HELLO", "a box of something", "one of zeros");
                }
                byte[] secret = Curve25519.generateSecretKey(random);
                transientSecret = secret;
                peerTransientKey = theirKey;
                byte[] transientKey = Curve25519.publicKey(secret);
                byte[] welcomeNonce = longNonce(WELCOME_NONCE, random);
                byte[] welcome = seal(helloKey, welcomeNonce, concat(transientKey, cookie(theirKey, secret)));
                return () -> {
                    state = State.AWAIT_INITIATE;
                    return Command.WELCOME
                            .body(context.alloc(), LONG_NONCE_LENGTH + welcome.length)
                            .writeBytes(sentPart(welcomeNonce))
                            .writeBytes(welcome);
                };
            } finally {
                CurveBoxes.wipe(helloKey);
            }
        });
    }

    /**
     * Returns C' and s' in a box. Only a client that has received the WELCOME can answer it, on this connection, once.
     */
    private byte[] cookie(byte[] theirKey, byte[] secret) {
        byte[] key = new byte[SecretBox.KEY_LENGTH];
        random.nextBytes(key);
        cookieKey = key;
        byte[] nonce = longNonce(COOKIE_NONCE, random);
        byte[] plain = concat(theirKey, secret);
        byte[] cookie = concat(sentPart(nonce), seal(key, nonce, plain));
        CurveBoxes.wipe(plain);
        return cookie;
    }

    private void initiate(ByteBuf data) {
        checkAtLeast("INITIATE data", data.readableBytes(), INITIATE_LENGTH);
        byte[] cookie = readBytes(data, COOKIE_LENGTH);
        long count = data.readLong();
        CurveCipher.checkCount(count, lastCount);
        lastCount = count;
        byte[] box = readBytes(data, data.readableBytes());
        state = State.COMPUTING;
        computation.start(() -> {
            checkCookie(cookie);
            byte[] secret = Objects.requireNonNull(transientSecret);
            byte[] theirKey = Objects.requireNonNull(peerTransientKey);
            byte[] key = Curve25519.sharedKey(secret, theirKey);
            sessionKey = key;
            ByteBuf opened = Unpooled.wrappedBuffer(open("INITIATE", key, nonce(INITIATE_NONCE, count), box));
            byte[] clientKey = readBytes(opened, KEY_LENGTH);
            byte[] vouchNonce = longNonce(VOUCH_NONCE, readBytes(opened, LONG_NONCE_LENGTH));
            byte[] vouchKey = Curve25519.sharedKey(secret, clientKey);
            byte[] vouched;
            try {
                vouched = open("vouch", vouchKey, vouchNonce, readBytes(opened, VOUCH_LENGTH));
            } finally {
                CurveBoxes.wipe(vouchKey);
            }
            // The second half prevents another server of this client from forwarding the vouch to us.
            if (!MessageDigest.isEqual(vouched, concat(theirKey, longTermKey))) {
                throw ZMTPException.malformed("vouch", "for other keys", "for the client's transient key and our own");
            }
            return () -> authenticate(clientKey, opened);
        });
    }

    private void checkCookie(byte[] cookie) {
        byte[] key = Objects.requireNonNull(cookieKey);
        byte[] nonce = longNonce(COOKIE_NONCE, Arrays.copyOf(cookie, LONG_NONCE_LENGTH));
        byte[] theirs = open("cookie", key, nonce, Arrays.copyOfRange(cookie, LONG_NONCE_LENGTH, COOKIE_LENGTH));
        byte[] ours = concat(Objects.requireNonNull(peerTransientKey), Objects.requireNonNull(transientSecret));
        boolean same = MessageDigest.isEqual(ours, theirs);
        CurveBoxes.wipe(ours);
        CurveBoxes.wipe(theirs);
        CurveBoxes.wipe(key);
        if (!same) {
            throw ZMTPException.malformed("cookie", "of another connection", "ours");
        }
    }

    private @Nullable ByteBuf authenticate(byte[] clientKey, ByteBuf metadata) {
        isProven = true;
        peer = context.readPeerMetadata(metadata);
        state = State.AWAIT_DECISION;
        ByteBuffer identity = Objects.requireNonNullElse(peer.value(ZMTPMetadata.IDENTITY), ByteBuffer.allocate(0));
        authDecision.ask(identity, List.of(ByteBuffer.wrap(clientKey)));
        return readyIfGranted();
    }

    @Override
    public @Nullable ByteBuf poll() {
        Supplier<@Nullable ByteBuf> result = computation.takeResult();
        return result != null ? result.get() : readyIfGranted();
    }

    private @Nullable ByteBuf readyIfGranted() {
        return state == State.AWAIT_DECISION && authDecision.isGranted() ? ready() : null;
    }

    private ByteBuf ready() {
        state = State.READY;
        byte[] key = Objects.requireNonNull(sessionKey);
        ByteBuf body = command(Command.READY, context, new byte[0], key, READY_NONCE, READY_COUNT, new byte[0]);
        succeed(new CurveCipher(
                new SecretBox(key, SERVER_NONCE), FIRST_MESSAGE, new SecretBox(key, CLIENT_NONCE), lastCount));
        return body;
    }

    /**
     * Answers only a peer that has proven its key, with the status of the decision, or that its socket type is wrong. A
     * libzmq peer that receives no answer reconnects, and causes another handshake each time.
     */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return isProven ? authDecision.refusal(cause) : null;
    }

    @Override
    void wipeOwnKey() {
        CurveBoxes.wipe(cookieKey);
    }
}
