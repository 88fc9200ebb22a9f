package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.stream.IntStream;

/**
 * What each workload does with messages: the same for all libraries on Netty.
 *
 * <p>Where one message is to be sent many times, it is made once and retained for each write: that is what an
 * application with one payload does, and nothing is allocated for the next one. Writes use the void promise, as nothing
 * waits for them, or a promise each with {@code style=defaults}, as most programs are written.
 */
final class CodecTraffic implements NettyTraffic {

    /** Writes between two flushes, if nothing else is asked for. */
    private static final int BATCH = 128;

    private static final int[] REQUEST = {9, 9, 0, 20, 40, 100};

    private final Program program;
    private final Arguments arguments;
    private final NettyTransport transport;
    private final NettyLibrary library;
    private final boolean promiseEach;
    private final int batch;

    CodecTraffic(Program program, NettyTransport transport, NettyLibrary library) {
        this.program = program;
        this.arguments = program.arguments();
        this.transport = transport;
        this.library = library;
        this.promiseEach = arguments.defaults();
        this.batch = arguments.flush(BATCH);
    }

    @Override
    public ChannelHandler handler(boolean binding, Counter messages) {
        return switch (arguments.workload()) {
            case ONEWAY, CONNECTIONS -> binding ? new Receiver(messages) : new Sender(messages);
            case IDLE -> new ChannelInboundHandlerAdapter();
            case REQREP -> binding ? new Echo(messages) : new Asker(messages);
            case PUBSUB, NEWS, PROXY, PEERS, CONNECTS ->
                throw new IllegalStateException(arguments.workload().key() + ": no codec's workload");
            case CUSTOM -> binding ? new CustomAnswerer(messages) : new CustomAsker(messages);
            case ROUNDTRIP -> binding ? new Ponger(messages) : new Pinger(messages);
            case OPENLOOP -> binding ? new SparseEcho(messages) : new Timed(messages);
            case LATENCY -> binding ? new Arrivals(messages) : new Timed(messages);
        };
    }

    private void write(ChannelHandlerContext ctx, Object message) {
        if (promiseEach) {
            ctx.write(message);
        } else {
            ctx.write(message, ctx.voidPromise());
        }
    }

    private Object message(ChannelHandlerContext ctx, int... sizes) {
        return library.message(ctx.alloc(), frames(ctx, sizes));
    }

    private static ByteBuf[] frames(ChannelHandlerContext ctx, int... sizes) {
        ByteBuf[] frames = new ByteBuf[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            frames[i] = ctx.alloc().directBuffer(Math.max(1, sizes[i])).writeZero(sizes[i]);
        }
        return frames;
    }

    /** The frames of a request, as they are in each library. */
    static ByteBuf[] requestFrames(ChannelHandlerContext ctx) {
        return frames(ctx, REQUEST);
    }

    /** The sizes of these frames. */
    static int[] requestSizes() {
        return REQUEST.clone();
    }

    /** The bytes of a request in a framing of short headers. */
    static int requestLength() {
        return IntStream.of(REQUEST).map(size -> 2 + size).sum();
    }

    /** Sends the same message as long as the channel is writable. */
    private final class Sender extends BatchSender {
        private Object message;

        Sender(Counter messages) {
            super(messages);
        }

        @Override
        void prepare(ChannelHandlerContext ctx) {
            message = message(ctx, arguments.size());
        }

        @Override
        int send(ChannelHandlerContext ctx) {
            int sent = 0;
            while (sent < batch && ctx.channel().isWritable()) {
                write(ctx, library.again(message));
                sent++;
            }
            ctx.flush();
            return sent;
        }
    }

    private final class Receiver extends ChannelInboundHandlerAdapter {
        private final Counter messages;

        Receiver(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (library.firstByte(message) != 0) {
                throw new IllegalStateException("first byte: not 0 (expected: 0)");
            }
            ReferenceCountUtil.release(message);
            messages.add(1);
        }
    }

    /** Sends back everything that it receives. */
    private final class Echo extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private Runnable flusher;

        Echo(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            flusher = library.flusher(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            write(ctx, message);
            flusher.run();
            messages.add(1);
        }
    }

    /** Keeps requests in flight: sends another one for each answer. */
    private final class Asker extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private Runnable flusher;
        private Object request;

        Asker(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == GO) {
                flusher = library.flusher(ctx.channel());
                request = arguments.size() == 0
                        ? library.message(ctx.alloc(), requestFrames(ctx))
                        : message(ctx, arguments.size());
                for (int i = 0; i < arguments.outstanding(); i++) {
                    write(ctx, library.again(request));
                }
                ctx.flush();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object answer) {
            ReferenceCountUtil.release(answer);
            messages.add(1);
            write(ctx, library.again(request));
            flusher.run();
        }
    }

    private final class CustomAnswerer extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private Runnable flusher;

        CustomAnswerer(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            flusher = library.flusher(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object request) {
            write(ctx, ((CustomRequest) request).ok());
            flusher.run();
            messages.add(1);
        }
    }

    private final class CustomAsker extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private final Object[] requests = new Object[arguments.outstanding()];
        private Runnable flusher;
        private int next;

        CustomAsker(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == GO) {
                flusher = library.flusher(ctx.channel());
                for (int i = 0; i < requests.length; i++) {
                    requests[i] = CustomRequest.get(i);
                    write(ctx, requests[i]);
                }
                ctx.flush();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object reply) {
            messages.add(1);
            // Answers come in the order of requests: the one that was answered is asked again.
            write(ctx, requests[next]);
            next = next + 1 == requests.length ? 0 : next + 1;
            flusher.run();
        }
    }

    /** Has one request in flight, and measures. */
    private final class Pinger extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private final LatencyRecorder latencies = program.latencies();
        private Object ping;
        private long sent;

        Pinger(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == GO) {
                ping = message(ctx, arguments.ping());
                send(ctx);
            }
        }

        private void send(ChannelHandlerContext ctx) {
            sent = System.nanoTime();
            ctx.writeAndFlush(library.again(ping), ctx.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object pong) {
            latencies.record(System.nanoTime() - sent);
            ReferenceCountUtil.release(pong);
            messages.add(1);
            send(ctx);
        }
    }

    private final class Ponger extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private Object pong;

        Ponger(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            pong = message(ctx, arguments.pong());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object ping) {
            ReferenceCountUtil.release(ping);
            ctx.writeAndFlush(library.again(pong), ctx.voidPromise());
            messages.add(1);
        }
    }

    /** Sends at a fixed rate, whether or not answers come, and measures from the time when each message was due. */
    private final class Timed extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private final LatencyRecorder latencies = program.latencies();
        private final Schedule schedule = program.schedule();

        Timed(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == GO) {
                schedule.restart();
                // No timer of an event loop is as precise as the schedule: the loop stays awake.
                transport.spin(ctx.channel().eventLoop(), () -> sendWhatIsDue(ctx));
            }
        }

        private void sendWhatIsDue(ChannelHandlerContext ctx) {
            long now = System.nanoTime();
            schedule.begin(now);
            int sent = 0;
            while (schedule.due() <= now
                    && sent < Schedule.BURST
                    && ctx.channel().isWritable()) {
                write(ctx, library.timed(ctx.alloc(), arguments.size(), schedule.due()));
                if (schedule.isLate(now)) {
                    program.late().add(1);
                }
                schedule.next();
                sent++;
            }
            if (sent > 0) {
                messages.add(sent);
                ctx.flush();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object echo) {
            latencies.record(System.nanoTime() - library.firstLong(echo));
            ReferenceCountUtil.release(echo);
        }
    }

    /**
     * Measures from the time when each message was due. The ends are processes of one machine, whose clocks are the
     * same: {@code System.nanoTime} reads {@code CLOCK_MONOTONIC} on Linux.
     */
    private final class Arrivals extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private final LatencyRecorder latencies = program.latencies();

        Arrivals(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            latencies.record(System.nanoTime() - library.firstLong(message));
            ReferenceCountUtil.release(message);
            messages.add(1);
        }
    }

    /** Sends back every n-th message. */
    private final class SparseEcho extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private int untilNext = arguments.every();
        private boolean written;

        SparseEcho(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            messages.add(1);
            if (--untilNext > 0) {
                ReferenceCountUtil.release(message);
                return;
            }
            untilNext = arguments.every();
            write(ctx, message);
            written = true;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (written) {
                written = false;
                ctx.flush();
            }
        }
    }
}
