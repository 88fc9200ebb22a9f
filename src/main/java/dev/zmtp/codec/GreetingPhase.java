package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.wire.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Finds out which version the peer speaks, and greets it in that (RFC 37, "Version Negotiation"; RFC 15 and 23, "Backwards
 * Interoperability").
 *
 * <p>Each of our octets is sent only once the peer's octets have shown that it will understand them: the signature at once,
 * the revision behind the peer's signature, the rest behind its revision. libzmq 3.2 would read a minor version that comes
 * too early as its socket type. A 1.0 peer has taken our signature for the header of an identity frame.
 *
 * <p>Reads exactly the greeting; what follows is left to the next phase.
 */
final class GreetingPhase extends HandshakePhase {

    private static final int REVISION_20 = 1;
    private static final int REVISION_20_TOO = 2;

    private final ZMTPVersion ours;
    private final ZMTPMechanism mechanism;
    private final ByteBuf received = Unpooled.buffer(Greeting.V3_LENGTH, Greeting.V3_LENGTH);

    /** How many octets must be there before there is something to decide. */
    private int wanted = 1;

    GreetingPhase(ZMTPCodec codec, ZMTPMechanism mechanism) {
        super(codec);
        this.ours = codec.config().protocol();
        this.mechanism = mechanism;
    }

    @Override
    void begin() {
        ByteBuf signature = codec.ctx().alloc().buffer(Greeting.SIGNATURE_LENGTH);
        Greeting.writeSignature(signature, codec.config().localIdentity().remaining());
        send(signature);
    }

    @Override
    void read(ByteBuf in) {
        while (in.isReadable() && isCurrent()) {
            received.writeBytes(in, Math.min(wanted - received.readableBytes(), in.readableBytes()));
            if (received.readableBytes() == wanted) {
                decide();
            }
        }
    }

    private void decide() {
        switch (wanted) {
            case 1 -> firstOctet();
            case Greeting.SIGNATURE_LENGTH -> signature();
            case Greeting.REVISION_OFFSET + 1 -> revision();
            case Greeting.V2_LENGTH -> greetingOf20();
            default -> greetingOf3x();
        }
    }

    private void firstOctet() {
        if (received.getUnsignedByte(0) == Greeting.SIGNATURE_FIRST) {
            wanted = Greeting.SIGNATURE_LENGTH;
        } else {
            enterUnversioned();
        }
    }

    private void signature() {
        if ((received.getByte(Greeting.SIGNATURE_LAST_OFFSET) & 1) == 0) {
            enterUnversioned(); // a 1.0 peer with an identity of 254 or 255 octets, which starts with ff too
            return;
        }
        wanted = Greeting.REVISION_OFFSET + 1;
        ByteBuf out = codec.ctx().alloc().buffer();
        out.writeByte(ours.revision());
        if (ours == ZMTPVersion.ZMTP20) {
            out.writeByte(codec.config().socketType().code());
        }
        send(out);
    }

    private void revision() {
        switch (received.getUnsignedByte(Greeting.REVISION_OFFSET)) {
            case 0 -> greetOld(ZMTPVersion.ZMTP10);
            case REVISION_20, REVISION_20_TOO -> greetOld(ZMTPVersion.ZMTP20);
            default -> {
                if (ours == ZMTPVersion.ZMTP20) {
                    greetOld(ours); // a 3.x peer answers our revision as a 2.0 peer would
                    return;
                }
                wanted = Greeting.V3_LENGTH;
                ByteBuf out = codec.ctx().alloc().buffer(Greeting.V3_LENGTH);
                Greeting.writeRest(out, ours, mechanism.name(), mechanism.isServer());
                send(out);
            }
        }
    }

    private void greetOld(ZMTPVersion version) {
        codec.checkDowngrade(version);
        wanted = Greeting.V2_LENGTH;
        ByteBuf out = codec.ctx().alloc().buffer();
        if (ours != ZMTPVersion.ZMTP20) {
            out.writeByte(codec.config().socketType().code());
        }
        IdentityPhase.writeIdentity(out, version, codec.config());
        send(out);
    }

    private void greetingOf20() {
        int code = received.getUnsignedByte(Greeting.MINOR_OFFSET);
        ZMTPSocketType peer = ZMTPSocketType.ofCode(code);
        if (peer == null) {
            throw ZMTPException.of(ZMTPException.Code.SOCKET_TYPE, "socket type", code, "0 to 10");
        }
        codec.checkSocketType(peer);
        int revision = received.getUnsignedByte(Greeting.REVISION_OFFSET);
        ZMTPVersion version = revision == 0 ? ZMTPVersion.ZMTP10 : ZMTPVersion.ZMTP20;
        codec.enter(IdentityPhase.versioned(codec, version, peer));
    }

    private void greetingOf3x() {
        boolean peerIs30 = received.getByte(Greeting.MINOR_OFFSET) == 0
                && received.getByte(Greeting.REVISION_OFFSET) == ZMTPVersion.ZMTP30.revision();
        ZMTPVersion version = peerIs30 ? ZMTPVersion.ZMTP30 : ours;
        codec.checkDowngrade(version);
        Greeting.checkMechanism(received, 0, mechanism.name());
        codec.enter(new MechanismPhase(codec, version, mechanism));
    }

    private void enterUnversioned() {
        codec.checkDowngrade(ZMTPVersion.ZMTP10);
        // Our signature was the header of our identity frame; only the identity itself is missing.
        if (codec.config().localIdentity().hasRemaining()) {
            send(Unpooled.wrappedBuffer(codec.config().localIdentity()));
        }
        if (isCurrent()) { // else that could not be sent, and the connection has ended
            codec.enter(IdentityPhase.unversioned(codec, received));
        }
    }
}
