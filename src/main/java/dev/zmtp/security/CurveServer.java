package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The side of CURVE whose key is known (RFC 26, "Authentication Handshake"). The commands: see {@link CurveClient}. */
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

    private final byte[] longTermSecret;
    private final byte[] longTermKey;
    private final Admission admission;

    private State state = State.AWAIT_HELLO;

    /** C'. */
    private byte @Nullable [] peerTransientKey;

    private byte @Nullable [] transientSecret;
    private byte @Nullable [] cookieKey;
    /** C' with s'. */
    private byte @Nullable [] sessionKey;

    /** The last nonce of the peer. */
    private long lastCount;

    private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

    CurveServer(Context context, SecureRandom random, ZMTPCurveKeyPair own) {
        super(context, random);
        this.longTermSecret = own.secretKey();
        this.longTermKey = own.publicKey().octets();
        this.admission = new Admission(context, name());
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public void receive(ByteBuf command) {
        switch (state) {
            case AWAIT_HELLO -> {
                Secured.expect(command, Command.HELLO);
                hello(command);
            }
            case AWAIT_INITIATE -> {
                Secured.expect(command, Command.INITIATE);
                initiate(command);
            }
            default -> throw Secured.unexpected(Command.read(command), "none in " + state);
        }
    }

    private void hello(ByteBuf data) {
        checkLength("HELLO data", data.readableBytes(), HELLO_LENGTH);
        int version = data.readUnsignedShort();
        if (version != VERSION) {
            throw ZMTPException.malformed("CURVE version", (version >>> Byte.SIZE) + "." + (version & 0xff), "1.0");
        }
        data.skipBytes(PADDING);
        byte[] theirKey = take(data, KEY_LENGTH);
        lastCount = data.readLong();
        CurveCipher.checkCount(lastCount, 0);
        byte[] nonce = nonce(HELLO_NONCE, lastCount);
        byte[] box = take(data, MAC_LENGTH + SIGNATURE_LENGTH);
        state = State.COMPUTING;
        compute(() -> {
            byte[] helloKey = Curve25519.sharedKey(longTermSecret, theirKey);
            try {
                if (!MessageDigest.isEqual(open("HELLO", helloKey, nonce, box), new byte[SIGNATURE_LENGTH])) {
                    throw ZMTPException.malformed("HELLO", "a box of something", "one of zeros");
                }
                byte[] secret = Curve25519.generateSecretKey(random);
                transientSecret = secret;
                peerTransientKey = theirKey;
                byte[] transientKey = Curve25519.publicKey(secret);
                byte[] welcomeNonce = longNonce(WELCOME_NONCE);
                byte[] welcome = seal(helloKey, welcomeNonce, joined(transientKey, cookie(theirKey, secret)));
                return () -> {
                    state = State.AWAIT_INITIATE;
                    return Command.WELCOME
                            .body(context.alloc(), LONG_NONCE_LENGTH + welcome.length)
                            .writeBytes(tail(welcomeNonce))
                            .writeBytes(welcome);
                };
            } finally {
                wipe(helloKey);
            }
        });
    }

    /** C' and s', so that only a client that has seen our WELCOME can go on, on this connection, once. */
    private byte[] cookie(byte[] theirKey, byte[] secret) {
        byte[] key = new byte[SecretBox.KEY_LENGTH];
        random.nextBytes(key);
        cookieKey = key;
        byte[] nonce = longNonce(COOKIE_NONCE);
        byte[] plain = joined(theirKey, secret);
        byte[] cookie = joined(tail(nonce), seal(key, nonce, plain));
        wipe(plain);
        return cookie;
    }

    private void initiate(ByteBuf data) {
        checkAtLeast("INITIATE data", data.readableBytes(), INITIATE_LENGTH);
        byte[] cookie = take(data, COOKIE_LENGTH);
        long count = data.readLong();
        CurveCipher.checkCount(count, lastCount);
        lastCount = count;
        byte[] box = take(data, data.readableBytes());
        state = State.COMPUTING;
        compute(() -> {
            checkCookie(cookie);
            byte[] secret = Objects.requireNonNull(transientSecret);
            byte[] theirKey = Objects.requireNonNull(peerTransientKey);
            byte[] key = Curve25519.sharedKey(secret, theirKey);
            sessionKey = key;
            ByteBuf opened = Unpooled.wrappedBuffer(open("INITIATE", key, nonce(INITIATE_NONCE, count), box));
            byte[] clientKey = take(opened, KEY_LENGTH);
            byte[] vouchNonce = longNonce(VOUCH_NONCE, take(opened, LONG_NONCE_LENGTH));
            byte[] vouchKey = Curve25519.sharedKey(secret, clientKey);
            byte[] vouched;
            try {
                vouched = open("vouch", vouchKey, vouchNonce, take(opened, VOUCH_LENGTH));
            } finally {
                wipe(vouchKey);
            }
            // The second half keeps a server that this client talks to from passing the vouch on to us.
            if (!MessageDigest.isEqual(vouched, joined(theirKey, longTermKey))) {
                throw ZMTPException.malformed("vouch", "for other keys", "for the client's transient key and our own");
            }
            return () -> authenticate(clientKey, opened);
        });
    }

    private void checkCookie(byte[] cookie) {
        byte[] key = Objects.requireNonNull(cookieKey);
        byte[] nonce = longNonce(COOKIE_NONCE, Arrays.copyOf(cookie, LONG_NONCE_LENGTH));
        byte[] theirs = open("cookie", key, nonce, Arrays.copyOfRange(cookie, LONG_NONCE_LENGTH, COOKIE_LENGTH));
        byte[] ours = joined(Objects.requireNonNull(peerTransientKey), Objects.requireNonNull(transientSecret));
        boolean same = MessageDigest.isEqual(ours, theirs);
        wipe(ours);
        wipe(theirs);
        wipe(key);
        if (!same) {
            throw ZMTPException.malformed("cookie", "of another connection", "ours");
        }
    }

    private @Nullable ByteBuf authenticate(byte[] clientKey, ByteBuf metadata) {
        peer = context.readPeerMetadata(metadata);
        state = State.AWAIT_DECISION;
        ByteBuffer identity = Objects.requireNonNullElse(peer.value(ZMTPMetadata.IDENTITY), ByteBuffer.allocate(0));
        admission.ask(identity, List.of(ByteBuffer.wrap(clientKey)));
        return next();
    }

    @Override
    @Nullable
    ByteBuf next() {
        return state == State.AWAIT_DECISION && admission.isGranted() ? ready() : null;
    }

    private ByteBuf ready() {
        state = State.READY;
        byte[] key = Objects.requireNonNull(sessionKey);
        ByteBuf body = sealed(Command.READY, new byte[0], key, READY_NONCE, READY_COUNT, new byte[0]);
        succeed(
                peer,
                new CurveCipher(
                        new SecretBox(key, SERVER_NONCE), FIRST_MESSAGE, new SecretBox(key, CLIENT_NONCE), lastCount));
        wipe();
        return body;
    }

    @Override
    public boolean isReady() {
        return state == State.READY;
    }

    /** Tells only those who have proven their key, and that no more than whether it may come in. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return cause.code() == ZMTPException.Code.AUTHENTICATION ? admission.refusal() : null;
    }

    @Override
    void wipe() {
        wipe(longTermSecret);
        wipe(transientSecret);
        wipe(cookieKey);
        wipe(sessionKey);
    }
}
