package dev.zmtp.internal.handshake;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Detects the version of the peer, and sends the greeting of that version (RFC 37, "Version Negotiation"; RFC 15 and
 * 23, "Backwards Interoperability").
 *
 * <p>Each byte of this side is sent only once the peer's bytes have shown that the peer will understand it: the
 * signature immediately, the revision after the peer's signature, the rest after the peer's revision. libzmq 3.2 would
 * read a minor version that arrives too early as its socket type. A 1.0 peer has interpreted this side's signature as
 * the header of an identity frame.
 *
 * <p>Reads exactly the greeting and leaves all later bytes to the next phase.
 */
final class GreetingPhase extends HandshakePhase {

    private static final int REVISION_1 = 1;
    private static final int REVISION_2 = 2;

    /**
     * Other protocols start with a letter or with the first byte of TLS. A 1.0 peer with such a first byte would have
     * an identity of at least 20 bytes.
     */
    private static final int LEAST_OF_OTHERS = 0x15;

    /** The part of the greeting that is read next. Each step is decided once this many bytes have arrived in total. */
    private enum Step {
        FIRST_BYTE(1),
        UNVERSIONED(2),
        SIGNATURE(Greeting.SIGNATURE_LENGTH),
        REVISION(Greeting.REVISION_OFFSET + 1),
        REST_OF_V2(Greeting.V2_LENGTH),
        REST_OF_V3(Greeting.V3_LENGTH);

        private final int length;

        Step(int length) {
            this.length = length;
        }
    }

    private final ZMTPVersion ours;
    private final ZMTPMechanism mechanism;
    private final ByteBuf received = Unpooled.buffer(Greeting.V3_LENGTH, Greeting.V3_LENGTH);
    private Step step = Step.FIRST_BYTE;

    GreetingPhase(Connection connection, ZMTPMechanism mechanism) {
        super(connection);
        this.ours = connection.config().protocol();
        this.mechanism = mechanism;
    }

    @Override
    public void begin() {
        ByteBuf signature = connection.ctx().alloc().buffer(Greeting.SIGNATURE_LENGTH);
        Greeting.writeSignature(signature, connection.config().localIdentity().remaining());
        send(signature);
    }

    @Override
    public void read(ByteBuf in) {
        while (in.isReadable() && isCurrent()) {
            received.writeBytes(in, Math.min(step.length - received.readableBytes(), in.readableBytes()));
            if (received.readableBytes() == step.length) {
                decide();
            }
        }
    }

    private void decide() {
        switch (step) {
            case FIRST_BYTE -> firstByte();
            case UNVERSIONED -> unversioned();
            case SIGNATURE -> signature();
            case REVISION -> revision();
            case REST_OF_V2 -> greetingOfV2();
            case REST_OF_V3 -> greetingOfV3();
        }
    }

    private void firstByte() {
        if (received.getUnsignedByte(0) == Greeting.SIGNATURE_FIRST) {
            step = Step.SIGNATURE;
        } else if (received.getUnsignedByte(0) >= LEAST_OF_OTHERS && isRefused(ZMTPVersion.ZMTP10)) {
            step = Step.UNVERSIONED;
        } else {
            enterUnversioned();
        }
    }

    private boolean isRefused(ZMTPVersion version) {
        try {
            connection.policy().checkVersion(version, mechanism);
            return false;
        } catch (ZMTPException refusal) {
            return true;
        }
    }

    /**
     * Checks the flags of the identity, which a 1.0 peer sends as zero. A peer with other flags is rejected because it
     * does not use ZMTP, instead of for its version.
     */
    private void unversioned() {
        int flags = received.getUnsignedByte(1);
        if (flags != 0) {
            throw Greeting.notZmtp(received.getUnsignedByte(0), flags);
        }
        enterUnversioned(); // which is rejected
    }

    private void signature() {
        if ((received.getByte(Greeting.SIGNATURE_LAST_OFFSET) & 1) == 0) {
            enterUnversioned(); // a 1.0 peer with an identity of 254 or 255 bytes, which also starts with ff
            return;
        }
        step = Step.REVISION;
        ByteBuf out = connection.ctx().alloc().buffer();
        out.writeByte(ours.revision());
        if (ours == ZMTPVersion.ZMTP20) {
            out.writeByte(connection.config().socketType().code());
        }
        send(out);
    }

    private void revision() {
        switch (received.getUnsignedByte(Greeting.REVISION_OFFSET)) {
            case 0 -> greetAs(ZMTPVersion.ZMTP10);
            case REVISION_1, REVISION_2 -> greetAs(ZMTPVersion.ZMTP20);
            default -> {
                if (ours == ZMTPVersion.ZMTP20) {
                    greetAs(ours); // a 3.x peer replies to this revision like a 2.0 peer
                    return;
                }
                step = Step.REST_OF_V3;
                ByteBuf out = connection.ctx().alloc().buffer(Greeting.V3_LENGTH);
                Greeting.writeRest(out, ours, mechanism.name(), mechanism.isServer());
                send(out);
            }
        }
    }

    /** Sends the rest of the greeting to a 2.0 peer, or to a 1.0 peer that has a signature. */
    private void greetAs(ZMTPVersion version) {
        connection.policy().checkVersion(version, mechanism);
        step = Step.REST_OF_V2;
        ByteBuf out = connection.ctx().alloc().buffer();
        if (ours != ZMTPVersion.ZMTP20) {
            out.writeByte(connection.config().socketType().code());
        }
        IdentityPhase.writeIdentity(out, version, connection.config());
        send(out);
    }

    private void greetingOfV2() {
        int code = received.getUnsignedByte(Greeting.MINOR_OFFSET);
        ZMTPSocketType peer = ZMTPSocketType.ofCode(code);
        if (peer == null) {
            throw ZMTPException.of(ZMTPException.Code.SOCKET_TYPE, "socket type", code, "0 to 10");
        }
        connection.policy().checkSocketType(peer);
        int revision = received.getUnsignedByte(Greeting.REVISION_OFFSET);
        ZMTPVersion version = revision == 0 ? ZMTPVersion.ZMTP10 : ZMTPVersion.ZMTP20;
        connection.enter(IdentityPhase.afterGreeting(connection, version, peer));
    }

    private void greetingOfV3() {
        boolean peerIs30 = received.getByte(Greeting.MINOR_OFFSET) == 0
                && received.getByte(Greeting.REVISION_OFFSET) == ZMTPVersion.ZMTP30.revision();
        ZMTPVersion version = peerIs30 ? ZMTPVersion.ZMTP30 : ours;
        connection.policy().checkVersion(version, mechanism);
        Greeting.checkMechanism(received, 0, mechanism.name());
        connection.enter(new MechanismPhase(connection, version, mechanism));
    }

    private void enterUnversioned() {
        connection.policy().checkVersion(ZMTPVersion.ZMTP10, mechanism);
        // The signature was the header of this side's identity frame. Only the identity itself is missing.
        if (connection.config().localIdentity().hasRemaining()) {
            send(Unpooled.wrappedBuffer(connection.config().localIdentity()));
        }
        if (isCurrent()) { // otherwise it could not be sent, and the connection has ended
            connection.enter(IdentityPhase.withoutGreeting(connection, received));
        }
    }

    @Override
    public String toString() {
        return received.isReadable() ? "greeting" : "greeting, nothing received";
    }
}
