package dev.zmtp.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * A ZeroMQ socket: it binds and connects to any number of endpoints, spreads what is sent among its peers, and collects
 * what they send, by the pattern of its {@link ZMTPSocketType} (RFC 28 to 31, 41, 48, 49, 51, 52).
 *
 * <pre>{@code
 *   ZMTPSocket pull = ZMTPSocket.open(PULL);
 *   pull.onMessage((peer, message) -> { System.out.println(message); message.release(); });
 *   pull.bind("tcp://127.0.0.1:5555");
 *
 *   ZMTPSocket push = ZMTPSocket.open(PUSH);
 *   push.connect("tcp://127.0.0.1:5555");
 *   push.send(ZMTPMessage.fromUTF8("hello"));
 * }</pre>
 *
 * <p><b>Threads.</b> All methods may be called from any thread, the socket's event loop included; those that wait throw
 * on an event loop. Messages of one thread to one peer keep their order. A socket lives on one event loop of its group,
 * on which handlers and listeners of messages run: they must not block.
 *
 * <p><b>Ownership.</b> A message that is sent belongs to the socket, which releases it, unless {@link #trySend} returns
 * false. If the call throws an {@link IllegalArgumentException}, an {@link IllegalStateException} or an
 * {@link UnsupportedOperationException}, the message is still the caller's. A message that is received belongs to the
 * receiver, which releases it.
 *
 * <p><b>Bounds.</b> Every queue is bounded, in messages and in bytes, for each peer: see {@link ZMTPSocketConfig}. The
 * buffers of the kernel come on top of that, a few MB for each TCP connection.
 *
 * <p><b>Delivery.</b> At most once. What the transport had when a connection ended may or may not have arrived, and its
 * future fails with {@link ZMTPSocketException.Reason#UNKNOWN}. What waits in the queue of a peer that this socket
 * connects to is sent when the peer is back.
 */
public final class ZMTPSocket implements AutoCloseable {

    /** Receives messages, on the socket's event loop. */
    @FunctionalInterface
    public interface MessageHandler {
        /**
         * Takes a message over and has to release it. If it throws, that is logged.
         *
         * @param from the peer that has sent it
         * @param message the message; with ROUTER, SERVER and PEER, its first frame is the name of the peer
         */
        void message(ZMTPPeer from, ZMTPMessage message);
    }

    /** A listener, a subscription or a membership, which lasts until it is closed. */
    public interface Registration extends AutoCloseable {
        /** Ends it. A second call does nothing. */
        @Override
        void close();
    }

    /**
     * What happened to the messages that were accepted before the socket was closed.
     *
     * @param undelivered the number of messages that have not left this process
     * @param unknown the number of messages that the transport had, and that may or may not have arrived
     * @param undeliveredTo the undelivered ones by endpoint; those that had no peer are under "nobody"
     */
    public record CloseReport(long undelivered, long unknown, Map<String, Long> undeliveredTo) {}

    private final SocketCore core;
    private final Exchange exchange;
    private final Usage usage;
    private final Waiting waiting;

    private ZMTPSocket(ZMTPSocketConfig config, LongSupplier nanoTime) {
        EventLoopGroup given = config.group();
        EventLoopGroup group = given == null ? SharedGroup.acquire() : given;
        EventLoop eventLoop = group.next();
        this.core = new SocketCore(config, eventLoop, nanoTime, given == null ? SharedGroup::release : () -> {});
        this.exchange = new Exchange(core);
        this.usage = new Usage(core);
        this.waiting = new Waiting(group);
        core.open();
    }

    /** Opens a socket of this type with all defaults. It has no connections yet. */
    public static ZMTPSocket open(ZMTPSocketType type) {
        return open(ZMTPSocketConfig.of(type));
    }

    /** Opens a socket. It has no connections yet. */
    public static ZMTPSocket open(ZMTPSocketConfig config) {
        return open(config, System::nanoTime);
    }

    /** Opens a socket with a clock that agrees with that of the event loop. */
    static ZMTPSocket open(ZMTPSocketConfig config, LongSupplier nanoTime) {
        return new ZMTPSocket(config, nanoTime);
    }

    /** The type of the socket. */
    public ZMTPSocketType type() {
        return core.type();
    }

    /** The settings of the socket. */
    public ZMTPSocketConfig config() {
        return core.config();
    }

    // Endpoints

    /**
     * Binds to an endpoint: {@code tcp://*:5555}, {@code ipc:///run/service}, {@code inproc://name},
     * {@code shm:///run/service}.
     *
     * @return completes when peers are accepted; fails if the endpoint cannot be bound
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public CompletableFuture<ZMTPBinding> bind(String endpoint) {
        return core.bind(Endpoint.parse(core.config(), endpoint, true));
    }

    /**
     * Connects to an endpoint, whether or not a peer is there, and again whenever the connection ends. Messages may be
     * sent at once. Connecting a second time to the same text returns the same connector.
     *
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public ZMTPConnector connect(String endpoint) {
        return core.connect(Endpoint.parse(core.config(), endpoint, false));
    }

    /** The present peers: those that are connected, and those that this socket connects to. */
    public List<ZMTPPeer> peers() {
        return core.peerList();
    }

    // Sending

    /**
     * Sends a message, which it takes over. If there is no room, the message waits in line, with at most
     * {@link ZMTPSocketConfig#maxWaitingSends()} others.
     *
     * @return completes when the transport has written the message; with a publisher, when it is queued. Otherwise it
     *     fails with a {@link ZMTPSocketException}, which says why and how far the message came
     */
    public CompletableFuture<Void> send(ZMTPMessage message) {
        usage.checkSend(message);
        return exchange.send(message);
    }

    /**
     * Sends a message if there is room for it now.
     *
     * @return whether the message was taken; if not, it still belongs to the caller
     */
    public boolean trySend(ZMTPMessage message) {
        usage.checkSend(message);
        return exchange.trySend(message);
    }

    /** Sends a message, or drops and counts it if there is no room now. Takes the message over in both cases. */
    public void write(ZMTPMessage message) {
        if (!trySend(message)) {
            core.droppedBySocket();
            message.release();
        }
    }

    /**
     * Sends a message, which it takes over, and waits until it is written.
     *
     * @throws ZMTPSocketException if it did not leave; with {@code TIMEOUT}, it may leave later
     * @throws IllegalStateException on an event loop
     */
    public void send(ZMTPMessage message, Duration timeout) throws InterruptedException {
        waiting.check();
        Waiting.await(send(message), timeout, "not written");
    }

    /**
     * Sends a message, which it takes over, to one peer. With ROUTER, SERVER and PEER, the message does not begin with
     * the name of the peer. With PUB and XPUB, it is sent whatever the peer has subscribed to, for example as the last
     * value of a topic for a new subscriber. A SUB still filters what it gets.
     *
     * @return as with {@link #send(ZMTPMessage)}; with a publisher it completes when the message is written
     * @throws IllegalArgumentException if the peer belongs to another socket, or the message has too many frames; the
     *     message then still belongs to the caller
     */
    public CompletableFuture<Void> sendTo(ZMTPPeer peer, ZMTPMessage message) {
        usage.checkSendTo("sendTo", peer, message);
        CompletableFuture<Void> result = new CompletableFuture<>();
        core.directly().send(peer, message, result);
        return result;
    }

    /** Sends a message to one peer as {@link #sendTo} does, or drops and counts it. Nothing is allocated for it. */
    public void writeTo(ZMTPPeer peer, ZMTPMessage message) {
        usage.checkSendTo("writeTo", peer, message);
        core.directly().send(peer, message, null);
    }

    /** Whether a message would be taken now. */
    public boolean isWritable() {
        return core.senders().isWritable();
    }

    /**
     * Adds a listener, which is called on the event loop when there is room again after a message was not taken, and
     * when the socket is closed.
     */
    public Registration onWritable(Runnable listener) {
        return registration(core.senders().roomListeners().listen(listener));
    }

    /**
     * The number of messages that got to no peer and no queue: no peer has the name, there was no room, or a newer
     * message took the place on the way to the event loop.
     */
    public long dropped() {
        return core.dropped();
    }

    // Receiving

    /**
     * Passes all messages to the handler, on the event loop: the fastest way to receive. Messages that already wait
     * come first. Not for REQ, whose answers go to {@link #request}, and REP, which has {@link #serve}.
     *
     * @throws ZMTPSocketException if there is another receiver
     */
    public void onMessage(MessageHandler handler) {
        ZMTPSocketType type = core.type();
        usage.require(
                Patterns.receives(type) && type != ZMTPSocketType.REQ && type != ZMTPSocketType.REP,
                "onMessage",
                "a type that receives, not REQ or REP");
        sink(new HandlerSink(core, handler));
    }

    private void sink(Inbox.Sink sink) {
        core.checkOpen();
        core.inbox().claim();
        core.executeHere(() -> core.inbox().sink(sink));
    }

    /**
     * Receives one message. Messages of several peers come in turn. A future that is cancelled, or that times out,
     * takes no message.
     */
    public CompletableFuture<ZMTPMessage> receive() {
        usage.require(Patterns.receives(core.type()), "receive", "a type that receives");
        return exchange.receive();
    }

    /**
     * Waits for a message.
     *
     * @throws ZMTPSocketException with {@code TIMEOUT} if none has come, or {@code CLOSED}
     * @throws IllegalStateException on an event loop
     */
    public ZMTPMessage receive(Duration timeout) throws InterruptedException {
        waiting.check();
        return Waiting.receive(receive(), timeout);
    }

    /** The messages as a stream, for one subscriber at a time. Only what it demands is delivered. */
    public Flow.Publisher<ZMTPMessage> messages() {
        ZMTPSocketType type = core.type();
        usage.require(
                Patterns.receives(type) && type != ZMTPSocketType.REQ && type != ZMTPSocketType.REP,
                "messages",
                "a type that receives, not REQ or REP");
        return new MessagePublisher(core);
    }

    // Requests

    /**
     * Sends a request of a REQ or DEALER to one peer, and correlates the answer. Any number may be outstanding. The
     * peer is a REP, or a ROUTER whose service returns the envelope, which is the frames up to the first empty one.
     *
     * @param message the data, without an envelope; it is taken over
     * @return the data of the answer, which the caller has to release. Fails with {@code TIMEOUT}, {@code PEER_DOWN} as
     *     soon as the connection has ended, {@code MUTE} if {@link ZMTPSocketConfig#maxOutstandingRequests()} are
     *     waiting, {@code DROPPED}, {@code MALFORMED}, or {@code CLOSED}. An answer that comes later is dropped
     */
    public CompletableFuture<ZMTPMessage> request(ZMTPMessage message, Duration timeout) {
        usage.require(
                core.type() == ZMTPSocketType.REQ || core.type() == ZMTPSocketType.DEALER, "request", "REQ or DEALER");
        Settings.positive("timeout", timeout);
        Usage.checkFrames(message, Integer.MAX_VALUE);
        if (core.senders().isClosed()) {
            message.release();
            return CompletableFuture.failedFuture(new ZMTPSocketException(CLOSED, "the socket is closed"));
        }
        return core.requests().ask(message, timeout);
    }

    /**
     * Passes requests to a REP or ROUTER to the handler, on the event loop, and sends its answers back, in any order.
     * At most {@link ZMTPSocketConfig#maxOutstandingRequests()} are with the handler at a time. A request whose stage
     * fails gets no answer, which is logged.
     *
     * @param handler returns the answer, which is taken over
     * @throws ZMTPSocketException if there is another receiver
     */
    public void serve(Function<ZMTPRequest, ? extends CompletionStage<ZMTPMessage>> handler) {
        usage.require(
                core.type() == ZMTPSocketType.REP || core.type() == ZMTPSocketType.ROUTER, "serve", "REP or ROUTER");
        sink(new Serving(core, handler));
    }

    // Subscriptions

    /** Subscribes to all messages whose first frame begins with this text in UTF-8. With SUB and XSUB. */
    public Registration subscribe(CharSequence topic) {
        return subscribe(Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8));
    }

    /**
     * Subscribes to all messages whose first frame begins with these bytes. With SUB and XSUB. Each publisher gets the
     * subscription now, or when it is connected, and again after each reconnect. It gets the cancel when the last
     * registration of the topic is closed.
     *
     * @param topic is copied, and still belongs to the caller
     */
    public Registration subscribe(ByteBuf topic) {
        usage.require(core.type().isSubscriber(), "subscribe", "SUB or XSUB");
        return core.subscriptions().register(Unpooled.copiedBuffer(topic));
    }

    /** Joins a group: up to 255 bytes of UTF-8, none of which is 0. With DISH. */
    public Registration join(CharSequence group) {
        usage.require(core.type() == ZMTPSocketType.DISH, "join", "DISH");
        ByteBuf name = Unpooled.copiedBuffer(group, StandardCharsets.UTF_8);
        Groups.check(name);
        return core.subscriptions().register(name);
    }

    /**
     * Adds a listener, which is called on the event loop with the topics that the subscribers of a PUB or XPUB ask for:
     * with the first subscription to a topic and the last cancel, also when that subscriber has left.
     *
     * @param all true to report all subscriptions and cancels
     */
    public void onSubscription(BiConsumer<ZMTPPeer, ZMTPSubscription> listener, boolean all) {
        usage.require(core.type().isPublisher(), "onSubscription", "PUB or XPUB");
        core.subscribers().listen(listener, all);
    }

    /** Completes when this many peers have a subscription or are in a group. What is sent then reaches them. */
    public CompletableFuture<Integer> awaitSubscribers(int subscribers) {
        usage.require(
                core.type().isPublisher() || core.type() == ZMTPSocketType.RADIO,
                "awaitSubscribers",
                "PUB, XPUB or RADIO");
        CompletableFuture<Integer> reached = new CompletableFuture<>();
        if (core.senders().isClosed()
                || !core.tryExecute(() -> core.subscribers().await(subscribers, reached))) {
            SendResults.fail(reached, CLOSED, "the socket is closed");
        }
        return reached;
    }

    // Events and the end

    /**
     * Adds a listener, which gets all events, in order, on the executor. It may block: up to 1,024 events wait for it,
     * and further ones are counted in its {@link ZMTPSocketEvent.Overflow}.
     */
    public Registration onEvent(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
        return registration(core.events().listen(executor, listener));
    }

    /**
     * As {@link #close(Duration)} with {@link ZMTPSocketConfig#linger()}. It does not wait. The JVM does not end before
     * all sockets that were given no event loops are closed.
     */
    @Override
    public void close() {
        close(core.config().linger());
    }

    /**
     * Closes the socket. Nothing more is accepted, and sends that wait, receives and requests fail. What is queued has
     * {@code linger} to leave. A second call changes nothing.
     *
     * @return always completes, at the latest shortly after {@code linger}
     */
    public CompletableFuture<CloseReport> close(Duration linger) {
        Settings.notNegative("linger", linger);
        CompletableFuture<CloseReport> closed = core.close(linger);
        exchange.close(); // last: the socket accepts nothing more by then
        return closed;
    }

    /** Shows the type and the peers. */
    @Override
    public String toString() {
        return "ZMTPSocket{" + core.type() + ", peers=" + core.peers().size() + "}";
    }

    SocketCore core() {
        return core;
    }

    private static Registration registration(AutoCloseable closeable) {
        return () -> Sockets.closeQuietly(closeable);
    }
}
