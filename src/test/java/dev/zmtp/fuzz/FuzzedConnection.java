package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/**
 * A codec that receives a stranger's bytes, a transport before it, an application after it, and all promises that hold
 * whatever the bytes are. Each is checked when it could be broken, and the rest in {@link #close}:
 *
 * <ul>
 *   <li>one end of the handshake, as an event and as a future, before the first message;
 *   <li>what is fired is a message, a subscription or a membership, until at most one {@link ZMTPException};
 *   <li>after that, the channel is closed, nothing is fired and nothing is sent;
 *   <li>no buffer is larger than twice what has come, and no more is kept than that;
 *   <li>what is sent is bounded by what came, and by the water mark if the peer reads nothing;
 *   <li>at the end, all memory is back, the memory budget counts nothing, and nothing was logged as a warning.
 * </ul>
 */
final class FuzzedConnection implements AutoCloseable {

    /** What the application does at the first message. READ acts as a transport whose user calls read. */
    enum Act {
        NOTHING,
        CLOSE,
        REMOVE_CODEC,
        THROW,
        READ
    }

    /** Bodies of up to this length get their buffer at once. */
    private static final int AT_ONCE = 4096;

    /** A READY or an ERROR of ours, and the least capacity of a batch. */
    private static final int OURS = 1024;

    private static final int HIGH_WATER_MARK = 512;

    /** After this many reads, the rest arrives in one. */
    private static final int MAX_READS = 2000;

    private static final class OwnException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OwnException() {
            super("the application's own", null, false, false);
        }
    }

    private final Warnings warnings = Warnings.listen();
    private final Ledger ledger;
    private final Setup setup;
    private final ZMTPCodec codec;
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private final List<String> heard = new ArrayList<>();
    private final List<ZMTPMessage> kept = new ArrayList<>();
    private final List<Integer> keptAt = new ArrayList<>();
    private final StringBuilder sent = new StringBuilder();
    private final StringBuilder passedOn = new StringBuilder();

    private byte[] stream = {};
    private int at;
    private int reads;
    private int[] readLengths = {};

    private Runnable delayedClose;
    private Throwable fault;
    private boolean acted;
    private int ends;
    private int futures;
    private int failures;
    private String lastWords = "";
    private boolean closing;
    private boolean ownEnd;
    private boolean removed;
    private boolean finishing;
    private long received;
    private long sentBytes;

    /** The surroundings of a codec; the same bytes mean the same in all of them. */
    record Setup(boolean direct, boolean keep, boolean roomy, boolean peerReads, boolean lateClose, Act act) {
        static Setup of(Input input) {
            int flags = input.oneByte();
            return new Setup(
                    (flags & 1) != 0,
                    (flags & 2) != 0,
                    (flags & 4) != 0,
                    (flags & 8) == 0,
                    (flags & 16) != 0,
                    input.of(Act.values()));
        }
    }

    FuzzedConnection(ZMTPCodec codec, Setup setup) {
        this.codec = codec;
        this.setup = setup;
        ledger = new Ledger(setup.direct);
        ledger.allow(AT_ONCE + OURS);
        channel.freezeTime();
        channel.config().setAllocator(ledger);
        if (!setup.peerReads) {
            channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(HIGH_WATER_MARK / 2, HIGH_WATER_MARK));
        }
        channel.pipeline().addLast(new FuzzedTransport(), codec, new FuzzedApplication());
        codec.session().handshakeFuture().addListener(done -> futures++);
    }

    /** The transport. It may delay a close as an SslHandler does, and its peer may read nothing. */
    private final class FuzzedTransport extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            FuzzFailure.unless(failures == 0, "sent behind a failure", msg);
            ByteBuf bytes = (ByteBuf) msg;
            sentBytes += bytes.readableBytes();
            sent.append(ByteBufUtil.hexDump(bytes));
            ctx.write(msg, promise);
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (setup.peerReads) {
                ctx.flush();
            }
        }

        @Override
        public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
            closing = true;
            if (setup.lateClose && !finishing) {
                delayedClose = () -> ctx.close(promise);
            } else {
                ctx.close(promise);
            }
        }
    }

    private final class FuzzedApplication extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (removed && msg instanceof ByteBuf bytes) {
                passedOn.append(ByteBufUtil.hexDump(bytes));
                bytes.release();
                return;
            }
            String words = Words.of(msg);
            boolean mayCome = !closing
                    && failures == 0
                    && ends == 1
                    && codec.session().handshakeFuture().isSuccess();
            if (setup.keep && msg instanceof ZMTPMessage message) {
                keptAt.add(heard.size());
                kept.add(kept.size() % 3 == 0 ? message : framesOf(message));
            } else {
                ReferenceCountUtil.release(msg);
            }
            FuzzFailure.unless(mayCome, "fired where nothing may be", words);
            heard.add(words);
            act(ctx);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            ends++;
            if (evt instanceof ZMTPHandshakeSuccess success) {
                FuzzFailure.unless(!closing, "success of a closed channel", success);
                FuzzFailure.unless(codec.session().handshakeFuture().isSuccess(), "success before its future", success);
                heard.add("success " + FuzzedConnection.describe(success.handshake()));
            } else if (evt instanceof ZMTPHandshakeFailure failure) {
                FuzzFailure.unless(codec.session().handshakeFuture().isDone(), "failure before its future", failure);
                failed(failure.cause());
            } else {
                throw new FuzzFailure("event: " + evt);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (cause instanceof FuzzFailure) {
                fault = cause; // of this handler: what is thrown here would be logged, and no more
            } else if (!(cause instanceof OwnException)) {
                failed(cause);
            }
        }
    }

    /** A message of the same frames, made as a user does that retains the frames and releases the message. */
    private static ZMTPMessage framesOf(ZMTPMessage message) {
        List<ByteBuf> frames = new ArrayList<>();
        message.forEach(frame -> frames.add(frame.retain()));
        ZMTPMessage kept = ZMTPMessage.from(frames); // first, or it would be the one that is recycled
        message.release();
        return kept;
    }

    private void failed(Throwable cause) {
        failures++;
        if (!(cause instanceof ZMTPException known) || known.getCause() != null) {
            fault = new FuzzFailure("failure: " + cause + " (expected: a ZMTPException without a cause)", cause);
        } else if (known.code() == ZMTPException.Code.CLOSED) {
            fault = finishing ? fault : new FuzzFailure("closed by nobody: " + known, known);
        } else {
            lastWords = Words.of(known);
            heard.add(lastWords);
        }
    }

    private static String describe(ZMTPHandshake handshake) {
        return handshake.negotiatedVersion() + " " + handshake.remoteSocketType() + " "
                + ByteBufUtil.hexDump(Unpooled.wrappedBuffer(handshake.remoteIdentity())) + " "
                + handshake.metadata();
    }

    private void act(ChannelHandlerContext ctx) {
        if (acted) {
            return;
        }
        acted = true;
        switch (setup.act) {
            case NOTHING -> {}
            case CLOSE -> {
                ownEnd = true;
                ctx.close();
            }
            case REMOVE_CODEC -> {
                ownEnd = true;
                removed = true;
                ctx.pipeline().remove(codec);
            }
            case THROW -> throw new OwnException();
            case READ -> {
                if (at < stream.length) {
                    ctx.pipeline().fireChannelRead(next());
                }
            }
        }
    }

    /**
     * Lets these bytes arrive, as long as the channel is open, in reads that cycle through these lengths; or in one
     * read if there are no lengths.
     */
    void hear(byte[] bytes, int... lengths) {
        stream = bytes;
        at = 0;
        reads = 0;
        readLengths = lengths;
        while (at < stream.length && channel.isOpen()) {
            long before = received;
            channel.writeInbound(next());
            checkRead((int) (received - before));
        }
    }

    private ByteBuf next() {
        boolean cut = reads < MAX_READS && readLengths.length > 0;
        int length = cut ? readLengths[reads % readLengths.length] : stream.length;
        int end = Math.min(stream.length, at + length);
        reads++;
        received += end - at;
        ledger.allow(Long.MAX_VALUE);
        // As a transport does it: often into a buffer that is much larger than what has come.
        ByteBuf in = ledger.buffer(setup.roomy ? end - at + 4 * OURS : end - at).writeBytes(stream, at, end - at);
        ledger.allow(Math.max(AT_ONCE, 2 * received) + OURS);
        at = end;
        return in;
    }

    private void checkFault() {
        ledger.check();
        if (fault != null) {
            throw new FuzzFailure(String.valueOf(fault.getMessage()), fault);
        }
    }

    private void checkRead(int length) {
        checkFault();
        FuzzFailure.unless(futures == ends, "the future is not the event", ends);
        boolean over = failures > 0 || ownEnd;
        FuzzFailure.unless(!over || removed || closing, "open behind a failure", heard);
        if (setup.peerReads) {
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                out.release();
            }
        } else if (channel.isOpen()) {
            long queued = channel.unsafe().outboundBuffer().totalPendingWriteBytes();
            // Each read may add one batch of answers before the channel becomes unwritable.
            FuzzFailure.unless(
                    queued <= HIGH_WATER_MARK + OURS + length, "queued for a peer that reads nothing", queued);
        }
        FuzzFailure.unless(sentBytes <= OURS + received, "sent for " + received + " bytes", sentBytes);
        if (!setup.keep && codec.session().config().decoder() == null) {
            long most = AT_ONCE + OURS + 2 * received + (setup.peerReads ? 0 : 8 * OURS);
            FuzzFailure.unless(ledger.taken() <= most, "kept of " + received + " bytes", ledger.taken());
        }
    }

    /** What was fired, in order, and the failure as the last. */
    List<String> heard() {
        return heard;
    }

    /** The messages alone, in order. */
    List<String> messages() {
        return heard.stream().filter(words -> words.startsWith("message")).toList();
    }

    /** What was sent, in hex. */
    String sent() {
        return sent.toString();
    }

    /** The bytes that were passed on, in hex, since the application removed the codec. */
    String passedOn() {
        return passedOn.toString();
    }

    /** Why it failed, in words; empty if it did not. */
    String failure() {
        return lastWords;
    }

    /** Whether the application ended it. */
    boolean isEndedByApplication() {
        return ownEnd;
    }

    /** Whether the handshake is over, and well. */
    boolean isInTraffic() {
        return codec.session().handshakeFuture().isSuccess();
    }

    @Override
    public void close() {
        try {
            end();
        } finally {
            warnings.stop();
        }
    }

    private void end() {
        finishing = true;
        if (delayedClose != null) {
            delayedClose.run();
        }
        channel.finishAndReleaseAll();
        channel.runPendingTasks();
        channel.releaseOutbound();
        ZMTPMemoryBudget budget = codec.session().config().memoryBudget();
        FuzzFailure.unless(budget == ZMTPMemoryBudget.shared() || budget.used() == 0, "counted as kept", budget);
        for (int i = 0; i < kept.size(); i++) {
            ZMTPMessage message = kept.get(i);
            FuzzFailure.unlessEqual(Words.of(message), heard.get(keptAt.get(i)), "kept message");
            FuzzFailure.unless(message.release(), "kept message", "not the application's alone");
        }
        checkFault();
        warnings.check();
        FuzzFailure.unless(ends == 1, "ends of a handshake", ends);
        FuzzFailure.unless(futures == 1, "completions of its future", futures);
        FuzzFailure.unless(failures <= 1, "failures", failures);
        FuzzFailure.unlessEqual(ledger.taken(), 0L, "bytes that are not back");
        LeakCheck.check();
    }
}
