package dev.zmtp.security;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;

/** A CURVE client with its own key and any content in its boxes, for a server that accepts everyone. */
public final class CurveForge {

    static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("01*32"));
    static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("02*32"));
    private static final byte[] TRANSIENT_SECRET = Hex.bytes("05*32");
    private static final byte[] TRANSIENT_KEY = Curve25519.publicKey(TRANSIENT_SECRET);
    private static final byte[] HELLO_KEY =
            Curve25519.sharedKey(TRANSIENT_SECRET, SERVER.publicKey().bytes());

    /** Bytes of a WELCOME without the header of its frame. */
    private static final int WELCOME_LENGTH = 168;

    private byte[] sessionKey = {};
    private long count = 2;

    /** The metadata of a socket of one of the types. */
    public static byte[] metadata(int type) {
        ZMTPSocketType[] types = ZMTPSocketType.values();
        return metadata(types[type % types.length]);
    }

    static byte[] metadata(ZMTPSocketType type) {
        return Hex.bytes(
                "0b \"Socket-Type\" 000000 %02x \"%s\"".formatted(type.name().length(), type));
    }

    /** Configures the server for this client. */
    public ZMTPCodec.Builder server(ZMTPCodec.Builder codec) {
        return codec.mechanism(ZMTPCurve.server(SERVER))
                .authenticator(ZMTPAuthenticator.acceptAll())
                .handshakeExecutor(Runnable::run);
    }

    /** A HELLO in its frame. */
    public byte[] hello() {
        return bytes("04 c8", helloBody());
    }

    static byte[] helloBody() {
        return helloBody(1);
    }

    static byte[] helloBody(int count) {
        byte[] box = CurveBoxes.seal(HELLO_KEY, CurveBoxes.nonce(CurveBoxes.HELLO_NONCE, count), new byte[64]);
        return bytes("05 \"HELLO\" 01 00 00*72", TRANSIENT_KEY, "00*7 %02x".formatted(count), box);
    }

    /** An INITIATE in its frame, in answer to what the server has sent so far, a WELCOME at the end. */
    public byte[] initiate(String sent, byte[] metadata) {
        byte[] bytes = Hex.bytes(sent);
        if (bytes.length < WELCOME_LENGTH) {
            return new byte[0]; // it has not sent one
        }
        byte[] welcome = Arrays.copyOfRange(bytes, bytes.length - WELCOME_LENGTH, bytes.length);
        byte[] body = initiateBody(welcome, SERVER.publicKey(), metadata);
        return bytes("06 %016x".formatted(body.length), body);
    }

    /** An INITIATE in answer to a WELCOME, whose vouch names this server key. */
    byte[] initiateBody(byte[] welcome, ZMTPCurvePublicKey named, byte[] metadata) {
        return initiateBody(welcome, TRANSIENT_KEY, named, metadata);
    }

    /** An INITIATE in answer to a WELCOME, whose vouch names these keys. */
    byte[] initiateBody(byte[] welcome, byte[] transientKey, ZMTPCurvePublicKey named, byte[] metadata) {
        byte[] opened = CurveBoxes.open(
                "WELCOME",
                HELLO_KEY,
                CurveBoxes.longNonce(CurveBoxes.WELCOME_NONCE, Arrays.copyOfRange(welcome, 8, 24)),
                Arrays.copyOfRange(welcome, 24, WELCOME_LENGTH));
        byte[] serverTransientKey = Arrays.copyOf(opened, 32);
        sessionKey = Curve25519.sharedKey(TRANSIENT_SECRET, serverTransientKey);
        byte[] vouch = CurveBoxes.seal(
                Curve25519.sharedKey(CLIENT.secretKey(), serverTransientKey),
                CurveBoxes.longNonce(CurveBoxes.VOUCH_NONCE, new byte[16]),
                bytes(transientKey, named.bytes()));
        byte[] box = CurveBoxes.seal(
                sessionKey,
                CurveBoxes.nonce(CurveBoxes.INITIATE_NONCE, count),
                bytes(CLIENT.publicKey().bytes(), "00*16", vouch, metadata));
        return bytes("08 \"INITIATE\"", Arrays.copyOfRange(opened, 32, 128), "00*7 02", box);
    }

    /** A MESSAGE in its frame, of these flags and this body. */
    public byte[] message(int flags, byte[] body) {
        if (sessionKey.length == 0) {
            return new byte[0];
        }
        count++;
        return message(count, flags, body);
    }

    private byte[] message(long nonce, int flags, byte[] body) {
        SecretBox boxes = new SecretBox(sessionKey, CurveBoxes.CLIENT_NONCE);
        int length = 33 + body.length;
        ByteBuf frame = Unpooled.buffer();
        frame.writeByte(length > 255 ? 2 : 0);
        if (length > 255) {
            frame.writeLong(length);
        } else {
            frame.writeByte(length);
        }
        frame.writeBytes(Hex.bytes("07 \"MESSAGE\"")).writeLong(nonce).writeZero(16);
        int start = frame.writerIndex();
        frame.writeByte(flags).writeBytes(body);
        boxes.seal(nonce, frame, start, 1 + body.length);
        return ByteBufUtil.getBytes(frame);
    }

    /** The body of the frame of a MESSAGE with this nonce, and with "a" in its box. */
    byte[] messageBody(long nonce) {
        byte[] frame = message(nonce, 0, new byte[] {'a'});
        return Arrays.copyOfRange(frame, 2, frame.length);
    }

    /** Concatenates bytes and strings of hex. */
    private static byte[] bytes(Object... parts) {
        StringBuilder hex = new StringBuilder();
        for (Object part : parts) {
            hex.append(part instanceof byte[] bytes ? ByteBufUtil.hexDump(bytes) : part)
                    .append(' ');
        }
        return Hex.bytes(hex.toString());
    }
}
