package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.LeakCheck;
import dev.zmtp.testing.ToyMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is written at one end is read at the other: any messages, in any buffers, written before the handshake or later,
 * with any flushes between, through the user's own encoder and decoder or not; and with a transport that fails at some
 * write.
 */
public final class WritingFuzz {

    private static final int[] LENGTHS = {
        0, 1, 2, 30, 252, 253, 254, 255, 256, 257, 500, 1023, 1024, 1025, 4095, 4096, 4097, 9000, 40_000, 70_000
    };
    private static final int MAX_OPERATIONS = 100;
    private static final int MAX_FRAMES = 12;
    private static final int MAX_TOTAL = 200_000;
    private static final int UNLIMITED = 1 << 30;

    private static final int PERIOD = 251;
    private static final byte[] PATTERN = new byte[70_000 + PERIOD];

    static {
        for (int i = 0; i < PATTERN.length; i++) {
            PATTERN[i] = (byte) (2 + i % PERIOD);
        }
    }

    private final Input input;
    private final Warnings warnings = Warnings.listen();
    private final Ledger ledger;
    private final ZMTPSocketType type;
    private final EmbeddedChannel left = new EmbeddedChannel();
    private final EmbeddedChannel right = new EmbeddedChannel();
    private final boolean isHeldLimited;
    private final int failing;
    private final int callingBack;
    private final int[] reads;

    private final List<String> written = new ArrayList<>();
    private final List<ChannelFuture> futures = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final List<Throwable> unexpected = new ArrayList<>();
    private int transportWrites;
    private int completions;
    private int next;
    private int total;

    private WritingFuzz(Input input) {
        this.input = input;
        ledger = new Ledger(input.choice(2) == 1);
        ZMTPVersion wanted = input.of(ZMTPVersion.values());
        type = input.of(ZMTPSocketType.DEALER, ZMTPSocketType.PUB, ZMTPSocketType.SUB, ZMTPSocketType.DISH);
        ZMTPVersion version = type.isDraft() && !wanted.hasCommands() ? ZMTPVersion.ZMTP31 : wanted;
        boolean encoding = input.choice(2) == 1;
        boolean decoding = input.choice(2) == 1;
        boolean sealing = input.choice(2) == 1 && version.hasCommands();
        Parts.Manner manner = input.of(Parts.Manner.values());
        int estimate = input.number(100, 0, 50, 300);
        int maxHeld = input.number(UNLIMITED, 0, 200, 9000);
        isHeldLimited = maxHeld != UNLIMITED;
        failing = input.oneByte();
        callingBack = input.oneByte();
        reads = FuzzedCodec.reads(input);

        ZMTPCodec.Builder writer = ZMTPCodec.builder().socketType(type).maxHeldWritesLength(maxHeld);
        ZMTPCodec.Builder reader =
                ZMTPCodec.builder().socketType(TrafficFuzz.peerOf(type)).protocol(version);
        if (encoding) {
            writer.encoder(session -> new Encoder(estimate));
        }
        if (decoding) {
            reader.decoder(session -> new Parts(manner));
        }
        if (sealing) {
            writer.mechanism(context -> ToyMechanism.client(context, "open"));
            reader.mechanism(context -> ToyMechanism.server(context, (password, yes) -> yes.run()));
        }
        connect(left, new FailingTransport(), writer.build());
        if (version == ZMTPVersion.ZMTP10 && type.isSubscriber()) {
            written.add(Words.of(ZMTPSubscription.subscribe(""))); // which a 1.0 peer cannot send
        }
        connect(right, new ChannelOutboundHandlerAdapter(), reader.build());
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> new WritingFuzz(new Input(bytes)).run());
    }

    private void connect(EmbeddedChannel channel, ChannelHandler transport, ZMTPCodec codec) {
        channel.freezeTime();
        channel.config().setAllocator(ledger);
        channel.pipeline().addLast(transport, codec, new Listener());
    }

    /** A transport that may call back during one of the writes, and may fail one. */
    private final class FailingTransport extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            int number = ++transportWrites;
            if (number == failing) {
                ReferenceCountUtil.release(msg);
                promise.tryFailure(new IOException("broken pipe"));
                return;
            }
            ctx.write(msg, promise);
            if (number == callingBack) {
                callback(); // after the bytes are queued, as when they make the channel unwritable
            }
        }
    }

    private final class Listener extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (ctx.channel() == right) {
                heard.add(Words.of(msg));
            }
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeFailure failure && !hasFailed()) {
                unexpected.add(failure.cause());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!hasFailed() || cause instanceof AssertionError) {
                unexpected.add(cause);
            }
        }
    }

    /** Writes messages as the codec would, with any idea of how long they are. */
    private static final class Encoder implements ZMTPEncoder {
        private static final String HALF = "half a message";

        private final int percent;

        Encoder(int percent) {
            this.percent = percent;
        }

        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            if (message == HALF) {
                estimator.frame(2);
                return;
            }
            ((ZMTPMessage) message).forEach(frame -> estimator.frame(frame.readableBytes() * percent / 100));
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            if (message == HALF) {
                writer.frame(1, true).writeByte(0);
                writer.frame(2, true).writeByte(0);
            }
            ZMTPMessage frames = (ZMTPMessage) message;
            for (int i = 0; i < frames.size(); i++) {
                ByteBuf frame = frames.frame(i);
                int length = frame.readableBytes();
                boolean more = i < frames.size() - 1;
                ByteBuf out;
                if (percent > 100) {
                    writer.frame(length * percent / 100, true);
                    out = writer.reframe(length, more);
                } else {
                    out = writer.frame(length, more);
                }
                out.writeBytes(frame, frame.readerIndex(), length);
            }
        }

        @Override
        public void close() {}
    }

    private boolean hasFailed() {
        return failing > 0 && transportWrites >= failing;
    }

    private void run() {
        try {
            for (int i = 0; i < MAX_OPERATIONS && total < MAX_TOTAL && !input.isEmpty(); i++) {
                operation(input.choice(8));
            }
            left.flush();
            exchange();
            compare();
        } finally {
            left.finishAndReleaseAll();
            right.finishAndReleaseAll();
            warnings.stop();
        }
        FuzzFailure.unless(futures.stream().allMatch(ChannelFuture::isDone), "written, and not done", futures);
        FuzzFailure.unlessEqual(completions, futures.size(), "completions");
        if (!unexpected.isEmpty()) {
            throw new FuzzFailure("failure: " + unexpected, unexpected.get(0));
        }
        warnings.check();
        FuzzFailure.unlessEqual(ledger.taken(), 0L, "bytes that are not back");
        LeakCheck.check();
    }

    private void compare() {
        long successes = futures.stream().filter(ChannelFuture::isSuccess).count();
        if (!hasFailed()) {
            FuzzFailure.unlessEqual(heard, written, "read");
            FuzzFailure.unlessEqual(successes, (long) futures.size(), "successes");
        } else {
            List<String> first = written.subList(0, Math.min(heard.size(), written.size()));
            FuzzFailure.unlessEqual(heard, first, "read before the transport failed");
            FuzzFailure.unless(successes <= heard.size() || isDropping(), "successes that nobody heard", successes);
        }
    }

    private void operation(int which) {
        switch (which) {
            case 0 -> left.flush();
            case 1 -> exchange();
            case 2 -> control();
            case 3 -> nothing();
            case 4 -> write(message(), isHeldLimited ? left.newPromise() : left.voidPromise());
            case 5 -> {
                ChannelPromise promise = left.newPromise();
                promise.addListener(done -> callback());
                write(message(), promise);
            }
            default -> write(message(), left.newPromise());
        }
    }

    /** What a user's code does in the middle of something: one more write, and a flush. */
    private void callback() {
        if (!input.isEmpty()) {
            write(message(), left.newPromise());
            left.flush();
        }
    }

    private void write(Object message, ChannelPromise promise) {
        int place = written.size();
        if (!isDropped(message)) {
            written.add(Words.of(message));
        }
        left.write(message, promise);
        boolean refused = isHeldLimited
                && promise.cause() instanceof EncoderException cause
                && String.valueOf(cause.getMessage()).startsWith("held writes");
        if (refused && place < written.size()) {
            written.remove(place);
        } else if (!promise.isVoid() && !refused) {
            futures.add(promise);
            promise.addListener(done -> completions++);
        }
    }

    /** A socket that only sends drops the messages that it gets. */
    private boolean isDropped(Object message) {
        return message instanceof ZMTPMessage && isDropping();
    }

    private boolean isDropping() {
        return TrafficFuzz.peerOf(type).isSendOnly();
    }

    /** A subscription or a membership, if this end may write any. */
    private void control() {
        String name = "t".repeat(input.of(1, 0, 2, 255));
        if (type.isSubscriber()) {
            boolean subscribe = input.choice(2) == 0;
            write(subscribe ? ZMTPSubscription.subscribe(name) : ZMTPSubscription.cancel(name), left.newPromise());
        } else if (type == ZMTPSocketType.DISH) {
            boolean join = input.choice(2) == 0;
            write(join ? ZMTPMembership.join(name) : ZMTPMembership.leave(name), left.newPromise());
        }
    }

    /** What is no message, or one of no frames: it must fail alone, in front of an encoder of the user's, too. */
    private void nothing() {
        int choice = input.choice(3);
        Object message = choice == 0 ? ZMTPMessage.from(new ByteBuf[0]) : choice == 1 ? "no message" : Encoder.HALF;
        left.write(message).addListener(done -> {
            if (!(done.cause() instanceof EncoderException) && left.isOpen() && !hasFailed()) {
                unexpected.add(new FuzzFailure(message + ": " + done.cause()));
            }
        });
    }

    private ZMTPMessage message() {
        int frames = 1 + input.choice(4) * input.choice(MAX_FRAMES) / 3;
        List<ByteBuf> all = new ArrayList<>();
        for (int i = 0; i < frames; i++) {
            all.add(frame());
        }
        return ZMTPMessage.from(all);
    }

    /**
     * A frame in any kind of buffer. Its bytes never look like a subscription, as a publisher would take it for one.
     */
    private ByteBuf frame() {
        int choice = input.oneByte();
        int length = LENGTHS[choice % LENGTHS.length];
        int kind = choice / LENGTHS.length % 4;
        ByteBuf bytes = kind == 0 ? ledger.heapBuffer(length) : ledger.directBuffer(length + 3);
        if (kind == 2) {
            bytes.writeZero(3).skipBytes(3);
        }
        bytes.writeBytes(PATTERN, next++ % PERIOD, length);
        total += length;
        if (kind == 3) {
            CompositeByteBuf composite = ledger.compositeBuffer();
            composite.addComponent(true, bytes.readRetainedSlice(length / 2)).addComponent(true, bytes);
            return composite;
        }
        return bytes;
    }

    private void exchange() {
        boolean moved = true;
        while (moved) {
            left.runPendingTasks();
            right.runPendingTasks();
            boolean forth = carry(left, right);
            boolean back = carry(right, left);
            moved = forth || back;
        }
    }

    private boolean carry(EmbeddedChannel from, EmbeddedChannel to) {
        boolean moved = false;
        for (ByteBuf bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            moved = true;
            try {
                for (int i = 0; bytes.isReadable() && to.isOpen(); i++) {
                    int wanted =
                            reads.length == 0 || i > MAX_OPERATIONS ? bytes.readableBytes() : reads[i % reads.length];
                    to.writeInbound(bytes.readRetainedSlice(Math.min(wanted, bytes.readableBytes())));
                }
            } finally {
                bytes.release();
            }
        }
        return moved;
    }
}
