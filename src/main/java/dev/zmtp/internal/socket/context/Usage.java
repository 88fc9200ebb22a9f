package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.Objects;

/**
 * The calls that the application may make, and the messages that it may pass to them, which depend on the type of the
 * socket. A refused message is released, because all calls take ownership of it.
 */
public final class Usage {

    private static final String TYPES_TO_ONE = "ROUTER, SERVER, PEER, PUB or XPUB";

    /** Number of bytes by which the command of a subscription is longer than its topic. */
    private static final int SUBSCRIBE = 10;

    private static final int ID = Integer.BYTES;

    private final ZMTPSocketType socketType;
    private final ZMTPConfig codec;

    /** Number of frames before the data of a request, and the number of bytes that they count. */
    private final int envelope;

    private final int envelopeBytes;

    /** @param config has the limits of what the socket receives, and its peers presumably as well */
    public Usage(ZMTPSocketConfig config) {
        this.socketType = config.socketType();
        this.codec = config.codec();
        boolean hasId = socketType != ZMTPSocketType.REQ || config.correlateRequests();
        this.envelope = hasId ? 2 : 1;
        this.envelopeBytes = envelope * TypeRules.FRAME + (hasId ? ID : 0);
    }

    /** Checks that the method may be called. */
    public void require(boolean holds, String method, String expected) {
        if (!holds) {
            throw unsupported(method, expected);
        }
    }

    private UnsupportedOperationException unsupported(String method, String expected) {
        return new UnsupportedOperationException(method + ": not with " + socketType + " (expected: " + expected + ")");
    }

    /** Checks that messages may be received individually. */
    public void checkReceive() {
        require(TypeRules.receives(socketType), "receive", "a type that receives");
    }

    /** Checks that messages may be received together with their peers. */
    public void checkReceiveFrom(String method) {
        boolean inTurn = socketType == ZMTPSocketType.REQ || socketType == ZMTPSocketType.REP;
        require(TypeRules.receives(socketType) && !inTurn, method, "a type that receives, not REQ or REP");
    }

    /** Checks that the peers can subscribe. */
    public void checkOnSubscription(String method) {
        require(socketType.isPublisher(), method, "PUB or XPUB");
    }

    public void checkServe() {
        require(socketType == ZMTPSocketType.REP || socketType == ZMTPSocketType.ROUTER, "serve", "REP or ROUTER");
    }

    public void checkSend(String method, ZMTPMessage message) {
        Objects.requireNonNull(message, "message");
        ZMTPSocketType type = socketType;
        if (!TypeRules.sends(type)) {
            throw refused(message, unsupported(method, "a type that sends"));
        }
        int most = TypeRules.maxFrames(type);
        checkFrames(message, TypeRules.namesPeers(type) && most == 1 ? 2 : most);
        if (type == ZMTPSocketType.REQ) {
            checkEnvelope(message);
        } else if (type == ZMTPSocketType.RADIO) {
            checkGroup(message);
        } else if (TypeRules.isLikeSubscription(type, message)) {
            throw refused(
                    message,
                    new IllegalArgumentException(
                            "first byte: 0 or 1 (expected: another, because publishers take it for a subscription)"));
        }
    }

    private static void checkGroup(ZMTPMessage message) {
        if (message.size() != 2) {
            throw refused(
                    message,
                    new IllegalArgumentException("frames: " + message.size() + " (expected: a group and a body)"));
        }
        try {
            Groups.check(message.frame(0));
        } catch (IllegalArgumentException | IllegalReferenceCountException e) {
            throw refused(message, e);
        }
    }

    /** Checks that messages may be sent to a single peer. */
    public void checkListenTo(String method) {
        require(sendsToOne(), method, TYPES_TO_ONE);
    }

    private boolean sendsToOne() {
        return TypeRules.namesPeers(socketType) || socketType.isPublisher();
    }

    public void checkSendTo(String method, ZMTPMessage message) {
        Objects.requireNonNull(message, "message");
        ZMTPSocketType type = socketType;
        if (!sendsToOne()) {
            throw refused(message, unsupported(method, TYPES_TO_ONE));
        }
        checkFrames(message, TypeRules.maxFrames(type));
    }

    public void checkRequest(ZMTPMessage message, Duration timeout) {
        Objects.requireNonNull(message, "message");
        ZMTPSocketType type = socketType;
        if (type != ZMTPSocketType.REQ && type != ZMTPSocketType.DEALER) {
            throw refused(message, unsupported("request", "REQ or DEALER"));
        }
        if (timeout == null) {
            throw refused(message, new NullPointerException("timeout"));
        }
        if (timeout.isNegative()) {
            throw refused(message, new IllegalArgumentException("timeout: " + timeout + " (expected: >= 0)"));
        }
        checkFrames(message, Integer.MAX_VALUE);
        checkEnvelope(message);
    }

    /**
     * Checks that the envelope does not make a message too long. A message received from another peer can have exactly
     * the maximum length, and the service would end the connection of all requests.
     */
    private void checkEnvelope(ZMTPMessage message) {
        int frames = message.size();
        int maxFrames = codec.maxMessageFrames();
        if (frames <= maxFrames && frames > maxFrames - envelope) {
            throw refused(message, tooLong("frames: " + frames, maxFrames - envelope, "maxMessageFrames"));
        }
        long length = TypeRules.countedLength(message.readableBytes(), frames);
        long maxLength = codec.maxMessageLength();
        if (length <= maxLength && length > maxLength - envelopeBytes) {
            throw refused(message, tooLong("length: " + length, maxLength - envelopeBytes, "maxMessageLength"));
        }
    }

    private static IllegalArgumentException tooLong(String what, long most, String limit) {
        return new IllegalArgumentException(
                what + " (expected: <= " + most + ", because of the envelope, see " + limit + ")");
    }

    /** Checks that the thread may block to receive a message. */
    public void checkWaitingReceive() throws InterruptedException {
        LoopFuture.checkMayWait();
        checkReceive();
        Waiting.checkInterrupt();
    }

    /** Like {@link #checkReceiveFrom}, and checks that the thread may block to receive a message. */
    public void checkWaitingReceiveFrom() throws InterruptedException {
        LoopFuture.checkMayWait();
        checkReceiveFrom("receiveFrom");
        Waiting.checkInterrupt();
    }

    /** Like {@link #checkWaitingReceiveFrom()}, with the maximum time to wait. */
    public void checkWaitingReceiveFrom(Duration timeout) throws InterruptedException {
        checkWaitingReceiveFrom();
        Objects.requireNonNull(timeout, "timeout");
    }

    /** Checks a message of a blocking send. */
    public void checkWaitingSend(ZMTPMessage message) {
        checkSend("send", message);
        checkMayWait(message);
    }

    /** Checks that the thread may block. */
    public static void checkMayWait(ZMTPMessage message) {
        try {
            LoopFuture.checkMayWait();
        } catch (BlockingOperationException e) {
            throw refused(message, e);
        }
    }

    /** Checks that the thread may block for the answer to a request, so that an interrupted thread sends none. */
    public static void checkWaitingRequest(ZMTPMessage message) throws InterruptedException {
        checkMayWait(message);
        try {
            Waiting.checkInterrupt();
        } catch (InterruptedException e) {
            ReferenceCountUtil.safeRelease(message);
            throw e;
        }
    }

    /** Checks the maximum time that a send waits. */
    public static void checkTimeout(ZMTPMessage message, Duration timeout) {
        Objects.requireNonNull(message, "message");
        if (timeout == null) {
            throw refused(message, new NullPointerException("timeout"));
        }
    }

    private static RuntimeException refused(ZMTPMessage message, RuntimeException why) {
        ReferenceCountUtil.safeRelease(message);
        return why;
    }

    /** Returns the topic or group if it is valid. */
    public ByteBuf topic(String method, ByteBuf topic) {
        boolean group = socketType == ZMTPSocketType.DISH;
        require(group || socketType.isSubscriber(), method, "SUB, XSUB or DISH");
        if (group) {
            Groups.check(topic);
        }
        return topic;
    }

    /** Like {@link #topic}, for a topic that is sent to publishers. */
    public ByteBuf newTopic(String method, ByteBuf topic) {
        int most = codec.maxCommandLength() - SUBSCRIBE;
        if (socketType.isSubscriber() && topic.readableBytes() > most) {
            throw new IllegalArgumentException(
                    "topic: " + topic.readableBytes() + " bytes (expected: <= " + most + ", see maxCommandLength)");
        }
        return topic(method, topic);
    }

    private static void checkFrames(ZMTPMessage message, int most) {
        if (message.refCnt() == 0) {
            throw new IllegalReferenceCountException("message: it was already sent or released");
        }
        int frames = message.size();
        if (frames < 1 || frames > most) {
            throw refused(
                    message,
                    new IllegalArgumentException(
                            "frames: " + frames + " (expected: " + (most == 1 ? "1" : "from 1 to " + most) + ")"));
        }
    }
}
