package dev.zmtp.test;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPSocketType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection of a peer that is not a socket: its handshake, and the bytes that have arrived. */
final class TestConnection extends ChannelInboundHandlerAdapter {

    private static final int GREETING = 64;
    private static final String GREETING_BEFORE_MECHANISM = "\u00ff\0\0\0\0\0\0\0\u0001\u007f\u0003\u0001NULL";

    /** Commands of a subscriber. */
    private static final Set<String> SUBSCRIPTIONS = Set.of("SUBSCRIBE", "CANCEL", "JOIN", "LEAVE");

    /** The part of the handshake that has arrived. */
    private enum Heard {
        NOTHING,
        GREETING,
        READY
    }

    private final ZMTPSocketType type;
    private final ByteBuf received = Unpooled.buffer();
    private final byte[] routingId;
    private final PeerInput input;
    private List<byte[]> message = new ArrayList<>();
    private @Nullable ChannelHandlerContext ctx;
    private boolean greeted;
    private Heard heard = Heard.NOTHING;
    private boolean stopped;

    /** @param routingId the routing id that this side announces; empty for none */
    TestConnection(ZMTPSocketType type, byte[] routingId, PeerInput input) {
        this.type = type;
        this.routingId = routingId;
        this.input = input;
    }

    boolean isActive() {
        ChannelHandlerContext its = ctx;
        return its != null && its.channel().isActive();
    }

    /** Returns whether the handshake was complete, even if the connection has ended since. */
    boolean wasAccepted() {
        return heard == Heard.READY;
    }

    /** Takes ownership of the bytes. Called only if the connection is active. */
    void write(ByteBuf bytes) {
        Objects.requireNonNull(ctx, "context").writeAndFlush(bytes);
    }

    void reading(boolean on) {
        stopped = !on;
        readIfWanted();
    }

    /**
     * Reads if the test has not stopped it, and has taken enough of the messages. The handshake is always read.
     */
    void readIfWanted() {
        ChannelHandlerContext its = ctx;
        if (its != null) {
            boolean wanted = !wasAccepted() || (!stopped && input.hasRoom());
            its.channel().config().setAutoRead(wanted);
        }
    }

    void close() {
        ChannelHandlerContext its = ctx;
        if (its != null) {
            its.close();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        ctx = added;
        if (added.channel().isActive()) {
            greet();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext active) {
        greet();
    }

    private void greet() {
        if (greeted) {
            return;
        }
        greeted = true;
        ByteBuf out = Unpooled.buffer();
        out.writeCharSequence(GREETING_BEFORE_MECHANISM, StandardCharsets.ISO_8859_1);
        out.writeZero(GREETING - out.readableBytes());
        ByteBuf ready = Unpooled.buffer();
        writeName(ready, "READY");
        writeProperty(ready, "Socket-Type", type.name().getBytes(StandardCharsets.US_ASCII));
        if (type.announcesIdentity() || routingId.length > 0) {
            writeProperty(ready, "Identity", routingId);
        }
        writeCommand(out, ready);
        write(out);
    }

    private static void writeProperty(ByteBuf out, String name, byte[] value) {
        writeName(out, name);
        out.writeInt(value.length).writeBytes(value);
    }

    /** Sends a subscription, a membership or its end. */
    void sendSubscription(String name, byte[] topic) {
        ByteBuf body = Unpooled.buffer();
        writeName(body, name);
        body.writeBytes(topic);
        ByteBuf out = Unpooled.buffer();
        writeCommand(out, body);
        write(out);
    }

    /** Sends a message. */
    void sendMessage(List<byte[]> frames) {
        ByteBuf out = Unpooled.buffer();
        for (int i = 0; i < frames.size(); i++) {
            byte[] body = frames.get(i);
            ZMTPFraming.V3.writeHeader(out, i < frames.size() - 1 ? ZMTPFraming.MORE : 0, body.length);
            out.writeBytes(body);
        }
        write(out);
    }

    private static void writeName(ByteBuf out, String name) {
        out.writeByte(name.length());
        out.writeCharSequence(name, StandardCharsets.US_ASCII);
    }

    private static void writeCommand(ByteBuf out, ByteBuf body) {
        ZMTPFraming.V3.writeHeader(out, ZMTPFraming.COMMAND, body.readableBytes());
        out.writeBytes(body);
        body.release();
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object bytes) {
        ByteBuf in = (ByteBuf) bytes;
        received.writeBytes(in);
        in.release();
        if (greetingSkipped()) {
            while (readFrame()) {
                // there can be more
            }
        }
        received.discardSomeReadBytes();
        readIfWanted();
    }

    private boolean greetingSkipped() {
        if (heard == Heard.NOTHING && received.readableBytes() >= GREETING) {
            received.skipBytes(GREETING);
            heard = Heard.GREETING;
        }
        return heard != Heard.NOTHING;
    }

    /** Returns whether there was a whole frame. */
    private boolean readFrame() {
        if (!received.isReadable()) {
            return false;
        }
        int start = received.readerIndex();
        int header = ZMTPFraming.V3.headerLengthFromFirstByte(received.getUnsignedByte(start));
        if (received.readableBytes() < header) {
            return false;
        }
        long length = ZMTPFraming.V3.bodyLengthAt(received, start);
        if (received.readableBytes() - header < length) {
            return false;
        }
        int flags = ZMTPFraming.V3.flagsAt(received, start);
        ByteBuf body = received.skipBytes(header).readSlice((int) length);
        if ((flags & ZMTPFraming.COMMAND) != 0) {
            command(body);
        } else {
            message.add(ByteBufUtil.getBytes(body));
            if ((flags & ZMTPFraming.MORE) == 0) {
                List<byte[]> whole = message;
                message = new ArrayList<>(whole.size());
                input.message(Collections.unmodifiableList(whole));
            }
        }
        return true;
    }

    /** Notes READY, answers a PING with its context (RFC 37, section "Commands"), and passes subscriptions on. */
    private void command(ByteBuf body) {
        String name = body.readCharSequence(body.readUnsignedByte(), StandardCharsets.US_ASCII)
                .toString();
        if (name.equals("PING")) {
            ByteBuf pong = Unpooled.buffer();
            writeName(pong, "PONG");
            pong.writeBytes(body.skipBytes(Short.BYTES)); // the time to live
            ByteBuf out = Unpooled.buffer();
            writeCommand(out, pong);
            write(out);
        } else if (name.equals("READY")) {
            heard = Heard.READY;
        } else if (SUBSCRIPTIONS.contains(name)) {
            input.subscription(name, ByteBufUtil.getBytes(body));
        }
    }
}
