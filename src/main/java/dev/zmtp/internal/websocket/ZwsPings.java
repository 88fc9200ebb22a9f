package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The PINGs and PONGs of both sides, which are control frames of WebSocket and commands of ZMTP.
 *
 * <p>The codec answers the PINGs of the peer if it can read them. It cannot during its handshake, in ZMTP 2.0, and if
 * the mechanism seals commands. Then the translator answers them. Of PINGs that arrive together, the last one is
 * answered, as RFC 6455 permits in section 5.5.3, so that a peer cannot make this side queue PONGs.
 *
 * <p>The payload of a PING of this side is its number, which a peer repeats in its PONG. libzmq does not.
 */
final class ZwsPings {

    /** More than a PING and a PONG with the longest context. */
    private static final int MAX_COMMANDS = 64;

    /** Context of a PONG for no PING that counts. */
    private static final int OTHER = '-';

    /** Meaning of a PONG for the codec, from the least to the most. */
    private enum Answer {
        /** It is for an earlier PING than that which counts, or for none. */
        EARLIER,
        /** It is for the PING that counts, or for an earlier one. */
        UNCERTAIN,
        /** The peer has read the PING that counts. */
        CERTAIN
    }

    private final BooleanSupplier codecReads;

    /** Payload of the last PING that this class must answer, or null. */
    private byte @Nullable [] ours;

    /** Payload of the last PING that the codec must answer, or null. */
    private byte @Nullable [] ofCodec;

    /** True if the codec has answers to PINGs of WebSocket. */
    private boolean codecAnswers;

    private boolean pingArrived;

    /** What the PONGs that have arrived mean, or null. */
    private @Nullable Answer answer;

    /** Maximum number of bytes between the PING that the peer has certainly read and the PING that counts. */
    private long uncertain;

    /** Whether the peer has repeated a number. */
    private boolean repeats;

    /** Number of the last PING of the codec; 0 before the first PING. */
    private int last;

    /** Number of bytes of the codec until the PING that counts. */
    private long counted;

    /** Number of bytes of the codec before a PING that the peer has certainly read when it sends the next PONG. */
    private long mark;

    /** Number of the PING that is marked when the peer has certainly read it; 0 if the next PING will be. */
    private int nextMarked;

    private long nextMark;

    /** Number of the last PING without a context, which is the PING that counts for the codec. */
    private int counts;

    /** Maximum number of the codec's PINGs that the peer has not answered, because a PONG can answer several. */
    private int unanswered;

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
    void receivedPong(byte[] payload) {
        if (last > 0) {
            int number =
                    payload.length == Integer.BYTES ? ByteBuffer.wrap(payload).getInt() : 0;
            repeats |= number > 0 && number <= last;
            Answer its = repeats ? answerOf(number) : answer();
            if (answer == null || its.compareTo(answer) > 0) {
                answer = its;
            }
        }
    }

    /** Returns what a PONG with a number means, or one without, which such a peer can send at any time. */
    private Answer answerOf(int number) {
        return number < counts || number > last ? Answer.EARLIER : Answer.CERTAIN;
    }

    /** Returns what a PONG without a number means. It answers at least the first PING that can be without an answer. */
    private Answer answer() {
        int first = last - Math.max(1, unanswered) + 1;
        unanswered = Math.max(0, unanswered - 1);
        if (nextMarked > 0 && first >= nextMarked) {
            mark = nextMark;
            nextMarked = 0;
        }
        uncertain = counted - mark;
        return first < counts ? Answer.UNCERTAIN : Answer.CERTAIN;
    }

    /** Returns the commands for the codec that have arrived since the last call, or null. The caller releases them. */
    @Nullable
    ByteBuf takeCommands(ByteBufAllocator alloc) {
        if (!pingArrived && answer == null) {
            return null;
        }
        ByteBuf commands = alloc.buffer(MAX_COMMANDS);
        if (answer != null) {
            switch (answer) {
                case CERTAIN -> begin(commands, Command.PONG, 0);
                case UNCERTAIN ->
                    Command.writeUncertain(begin(commands, Command.PONG, Command.UNCERTAIN_LENGTH), uncertain);
                case EARLIER -> begin(commands, Command.PONG, 1).writeByte(OTHER);
            }
        }
        if (pingArrived) {
            begin(commands, Command.PING, Command.TTL_LENGTH).writeZero(Command.TTL_LENGTH);
        }
        pingArrived = false;
        answer = null;
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
     * Called when the codec sends a PING with a context of this length, in a buffer with these numbers of bytes before
     * and after it. Returns the payload of its frame.
     */
    byte[] sent(int contextLength, long before, long after) {
        last++;
        unanswered++;
        if (last == 1) {
            mark = before;
        } else if (nextMarked == 0) {
            nextMarked = last;
            nextMark = before;
        }
        if (contextLength == 0) {
            counts = last;
            counted = after;
        }
        return ByteBuffer.allocate(Integer.BYTES).putInt(last).array();
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
