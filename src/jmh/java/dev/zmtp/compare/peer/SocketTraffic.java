package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * What each workload does with sockets, on their event loop: the fastest way to use them. The other views are in
 * subclasses, which do one thing in another way.
 *
 * <p>As in {@link CodecTraffic}, a message that is sent many times is made once and retained for each. Within a process it
 * is made anew, as by an application: both ends would change the same count.
 */
class SocketTraffic {

    /** Messages to one socket before it is the turn of the next. */
    private static final int BATCH = 128;

    /** No timer fires while the programs are stopped and others are measured. */
    static final Duration PATIENCE = Duration.ofHours(1);

    final Program program;
    final Arguments arguments;
    final EventLoop loop;
    final Counter messages;
    private final byte[] body;

    SocketTraffic(Program program, EventLoop loop, Counter messages) {
        this.program = program;
        this.arguments = program.arguments();
        this.loop = loop;
        this.messages = messages;
        this.body = new byte[arguments.size()];
    }

    /** What one end does with its messages, by the workload and the view that the arguments ask for. */
    static SocketTraffic of(Program program, NettyTransport transport, EventLoop loop, Counter messages) {
        if (program.arguments().workload().scheduled()) {
            return new SocketsOnTime(program, transport, loop, messages);
        }
        return switch (program.arguments().view()) {
            case HANDLER -> new SocketTraffic(program, loop, messages);
            case HAND -> new SocketsByHand(program, loop, messages);
            case THREAD, FUTURES, BLOCKING, REQUEST, VIRTUAL -> new SocketViews(program, loop, messages);
        };
    }

    /** Has the socket that binds do its part, from its first connection on. */
    final void bind(ZMTPSocket socket) {
        switch (arguments.workload()) {
            case ONEWAY, CONNECTIONS -> receive(socket);
            case PUBSUB, NEWS ->
                socket.whenPeers(arguments.connections() + arguments.mute())
                        .thenRun(() -> send(socket, message(arguments.size())));
            case REQREP, PEERS, CONNECTS, OPENLOOP -> serve(socket);
            case ROUNDTRIP -> answerPings(socket);
            default -> {} // idle
        }
    }

    /** Prepares one of the sockets that connect, before it does. */
    final void prepare(ZMTPSocket socket) {
        if (arguments.workload().sentByBinding()) {
            socket.subscribe("");
            receive(socket);
        }
    }

    /** All sockets that connect are connected. */
    final void go(List<ZMTPSocket> sockets) {
        switch (arguments.workload()) {
            case ONEWAY, CONNECTIONS -> sockets.forEach(socket -> send(socket, message(arguments.size())));
            case REQREP, OPENLOOP -> ask(sockets.get(0), request());
            case PEERS -> keepAsking(inTurn(sockets), request());
            case ROUNDTRIP -> ping(sockets.get(0), message(arguments.ping()));
            default -> {} // idle, and subscribers
        }
    }

    static ZMTPMessage message(int... sizes) {
        ByteBuf[] frames = new ByteBuf[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            frames[i] =
                    ByteBufAllocator.DEFAULT.directBuffer(Math.max(1, sizes[i])).writeZero(sizes[i]);
        }
        return ZMTPMessage.from(frames);
    }

    /** The message to send another time. */
    final ZMTPMessage again(ZMTPMessage message) {
        if (arguments.medium() == Medium.INPROC || arguments.workload() == Workload.PROXY) {
            return ZMTPMessage.from(Unpooled.wrappedBuffer(body));
        }
        return message.retain();
    }

    final ZMTPMessage request() {
        return arguments.size() == 0 ? message(CodecTraffic.requestSizes()) : message(arguments.size());
    }

    final void received(ZMTPMessage message) {
        checked(message);
        messages.add(1);
    }

    /** Checks and releases the message. */
    final void checked(ZMTPMessage message) {
        ByteBuf frame = message.frame(0);
        if (frame.getByte(frame.readerIndex()) != 0) {
            program.fail(new IllegalStateException("first byte: not 0 (expected: 0)"));
        }
        message.release();
    }

    private void received(ZMTPPeer from, ZMTPMessage message) {
        received(message);
    }

    // The parts that the views have in their own ways

    void send(ZMTPSocket socket, ZMTPMessage message) {
        Sender sender = new Sender(socket, message);
        socket.onWritable(sender::sendSoon);
        loop.execute(sender::sendSoon);
    }

    void receive(ZMTPSocket socket) {
        socket.onMessage(this::received);
    }

    /** Keeps requests in flight: sends another one for each answer. */
    void ask(ZMTPSocket socket, ZMTPMessage request) {
        keepAsking(() -> socket, request);
    }

    private void keepAsking(Supplier<ZMTPSocket> next, ZMTPMessage request) {
        loop.execute(() -> {
            for (int i = 0; i < arguments.outstanding(); i++) {
                new Asker(next, request).ask();
            }
        });
    }

    private static Supplier<ZMTPSocket> inTurn(List<ZMTPSocket> sockets) {
        return new Supplier<>() {
            private int next;

            @Override
            public ZMTPSocket get() {
                next = next + 1 == sockets.size() ? 0 : next + 1;
                return sockets.get(next);
            }
        };
    }

    void serve(ZMTPSocket socket) {
        socket.serve(request -> {
            messages.add(1);
            request.reply(request.message());
        });
    }

    /** Has one request in flight, and measures. */
    void ping(ZMTPSocket socket, ZMTPMessage ping) {
        loop.execute(new Pinger(socket, ping)::ping);
    }

    void answerPings(ZMTPSocket socket) {
        ZMTPMessage pong = message(arguments.pong());
        socket.serve(ping -> {
            messages.add(1);
            ping.reply(pong.retain());
        });
    }

    /** Sends the same message as long as there is room. */
    private final class Sender implements Runnable {
        private final ZMTPSocket socket;
        private final ZMTPMessage message;
        private boolean due;

        Sender(ZMTPSocket socket, ZMTPMessage message) {
            this.socket = socket;
            this.message = message;
        }

        /** Sends in a task of its own, so that other sockets have their turn between two batches. */
        void sendSoon() {
            if (!due) {
                due = true;
                loop.execute(this);
            }
        }

        @Override
        public void run() {
            due = false;
            int sent = 0;
            while (sent < BATCH) {
                ZMTPMessage next = again(message);
                if (!socket.trySend(next)) {
                    next.release(); // the listener for room goes on
                    break;
                }
                sent++;
            }
            messages.add(sent);
            if (sent == BATCH) {
                sendSoon();
            }
        }
    }

    private final class Asker {
        private final Supplier<ZMTPSocket> next;
        private final ZMTPMessage request;

        Asker(Supplier<ZMTPSocket> next, ZMTPMessage request) {
            this.next = next;
            this.request = request;
        }

        void ask() {
            next.get().requestAsync(request.retain(), PATIENCE).whenComplete(this::answered);
        }

        private void answered(ZMTPMessage answer, Throwable failure) {
            if (failure != null) {
                program.fail(failure);
                return;
            }
            answer.release();
            messages.add(1);
            ask();
        }
    }

    private final class Pinger {
        private final ZMTPSocket socket;
        private final ZMTPMessage ping;
        private final LatencyRecorder latencies = program.latencies();
        private long sent;

        Pinger(ZMTPSocket socket, ZMTPMessage ping) {
            this.socket = socket;
            this.ping = ping;
        }

        void ping() {
            sent = System.nanoTime();
            socket.requestAsync(ping.retain(), PATIENCE).whenComplete(this::answered);
        }

        private void answered(ZMTPMessage pong, Throwable failure) {
            if (failure != null) {
                program.fail(failure);
                return;
            }
            latencies.record(System.nanoTime() - sent);
            pong.release();
            messages.add(1);
            ping();
        }
    }
}
