package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The PINGs and PONGs of both sides, which are control frames of WebSocket and commands of ZMTP.
 *
 * <p>The codec answers the PINGs of the peer if it can read them. It cannot during its handshake, in ZMTP 2.0, and if
 * the mechanism seals commands. Then the translator answers them. Of PINGs that arrive together, the last one is
 * answered, as RFC 6455 permits in section 5.5.3, so that a peer cannot make this side queue PONGs.
 */
final class ZwsPings {

    /** More than a PING and a PONG with the longest context. */
    private static final int MAX_COMMANDS = 64;

    private static final byte[] NO_CONTEXT = {};

    private final BooleanSupplier codecReads;

    /** Payload of the last PING that this class must answer, or null. */
    private byte @Nullable [] ours;

    /** Payload of the last PING that the codec must answer, or null. */
    private byte @Nullable [] ofCodec;

    /** True if the codec has answers to PINGs of WebSocket. */
    private boolean codecAnswers;

    private boolean pingArrived;
    private boolean pongArrived;

    /** Context of the first PING of the codec without a PONG, or null. The frame of a PING has no context. */
    private byte @Nullable [] firstContext;

    /** Context of the last PING of the codec, or null before the first PING. */
    private byte @Nullable [] lastContext;

    /** @param codecReads whether the codec can read a PING that has no seal */
    ZwsPings(BooleanSupplier codecReads) {
        this.codecReads = codecReads;
    }

    /** Called when a PING of the peer has arrived. */
    void received(byte[] payload) {
        if (codecReads.getAsBoolean()) {
            ofCodec = payload;
            pingArrived = true;
            codecAnswers = true;
        } else {
            ours = payload;
        }
    }

    /** Called when a PONG of the peer has arrived. It counts if the codec has sent a PING, and nothing otherwise. */
    void receivedPong() {
        pongArrived = lastContext != null;
    }

    /** Returns the commands for the codec that have arrived since the last call, or null. The caller releases them. */
    @Nullable
    ByteBuf takeCommands(ByteBufAllocator alloc) {
        if (!pingArrived && !pongArrived) {
            return null;
        }
        ByteBuf commands = alloc.buffer(MAX_COMMANDS);
        if (pongArrived) {
            byte[] context = takeContext();
            begin(commands, Command.PONG, context.length).writeBytes(context);
        }
        if (pingArrived) {
            begin(commands, Command.PING, Command.TTL_LENGTH).writeZero(Command.TTL_LENGTH);
        }
        pingArrived = false;
        pongArrived = false;
        return commands;
    }

    private static ByteBuf begin(ByteBuf out, Command command, int data) {
        String name = command.name();
        ZMTPFraming.V3.writeHeader(out, ZMTPFraming.COMMAND, 1 + name.length() + data);
        out.writeByte(name.length());
        out.writeCharSequence(name, StandardCharsets.US_ASCII);
        return out;
    }

    /**
     * Returns the context of the PING that a PONG answers. A PONG has read all that was sent before the first PING
     * without a PONG, even if it was sent for a later one.
     */
    private byte[] takeContext() {
        byte[] context = firstContext == null ? lastContext : firstContext;
        firstContext = null;
        return context == null ? NO_CONTEXT : context;
    }

    /** Called when the codec sends a PING with this context. */
    void sent(byte[] context) {
        lastContext = context;
        if (firstContext == null) {
            firstContext = context;
        }
    }

    /**
     * Returns whether the codec's PONG with a context of this length answers a PING of WebSocket. Otherwise it answers
     * a PING that came as a command.
     */
    boolean isAnswer(int contextLength) {
        return codecAnswers && contextLength == 0;
    }

    /** Returns the payload of the PONG that the codec sends, or null if a PONG for the same PING was sent already. */
    byte @Nullable [] takeAnswerOfCodec() {
        byte[] payload = ofCodec;
        ofCodec = null;
        return payload;
    }

    /** Returns the payload of the PONG that the translator must send, or null. */
    byte @Nullable [] takeAnswer() {
        byte[] payload = ours;
        ours = null;
        return payload;
    }
}
