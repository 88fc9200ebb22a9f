package dev.zmtp.test;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPSocketType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection of a {@link ZMTPTestPeer}: its handshake, and the messages that have arrived. */
final class TestConnection extends ChannelInboundHandlerAdapter {

    private static final int GREETING = 64;
    private static final String GREETING_BEFORE_MECHANISM = "\u00ff\0\0\0\0\0\0\0\u0001\u007f\u0003\u0001NULL";

    private final ZMTPSocketType type;
    private final ByteBuf received = Unpooled.buffer();
    private final String routingId;
    private final ReceivedFrames messages;
    private final Set<String> subscriptions = new LinkedHashSet<>();
    private @Nullable ChannelHandlerContext ctx;
    private boolean greeted;
    private boolean peerGreeted;
    private boolean stopped;

    TestConnection(ZMTPSocketType type, String routingId, ReceivedFrames messages) {
        this.type = type;
        this.routingId = routingId;
        this.messages = messages;
    }

    List<String> subscriptions() {
        return List.copyOf(subscriptions);
    }

    boolean isActive() {
        ChannelHandlerContext its = ctx;
        return its != null && its.channel().isActive();
    }

    /** Takes ownership of the bytes. Called only if the connection is active. */
    void write(ByteBuf bytes) {
        Objects.requireNonNull(ctx, "context").writeAndFlush(bytes);
    }

    void reading(boolean on) {
        stopped = !on;
        readIfWanted();
    }

    /** Reads if the test has not stopped it, and has taken enough of the messages. */
    void readIfWanted() {
        ChannelHandlerContext its = ctx;
        if (its != null) {
            its.channel().config().setAutoRead(!stopped && messages.hasRoom());
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
        writeProperty(ready, "Socket-Type", type.name());
        if (type.announcesIdentity()) {
            writeProperty(ready, "Identity", routingId);
        }
        writeCommand(out, ready);
        write(out);
    }

    private static void writeProperty(ByteBuf out, String name, String value) {
        writeName(out, name);
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length).writeBytes(bytes);
    }

    static void writeName(ByteBuf out, String name) {
        out.writeByte(name.length());
        out.writeCharSequence(name, StandardCharsets.US_ASCII);
    }

    static void writeCommand(ByteBuf out, ByteBuf body) {
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
        if (!peerGreeted && received.readableBytes() >= GREETING) {
            received.skipBytes(GREETING);
            peerGreeted = true;
        }
        return peerGreeted;
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
            messages.add(ByteBufUtil.getBytes(body), (flags & ZMTPFraming.MORE) != 0);
        }
        return true;
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        messages.connectionEnded();
        inactive.fireChannelInactive();
    }

    /** Answers a PING with its context (RFC 37, section "Commands"), and notes subscriptions. */
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
        } else if (name.equals("SUBSCRIBE")) {
            subscriptions.add(body.toString(StandardCharsets.UTF_8));
        } else if (name.equals("CANCEL")) {
            subscriptions.remove(body.toString(StandardCharsets.UTF_8));
        }
    }
}
