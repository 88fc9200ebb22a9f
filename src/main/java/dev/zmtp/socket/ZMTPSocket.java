package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.Exchange;
import dev.zmtp.internal.socket.SocketCore;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SharedGroup;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Usage;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.transport.QueueLimit;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.BlockingOperationException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A ZeroMQ socket: it binds and connects to any number of endpoints, spreads what is sent among its peers, and collects
 * what they send, by the pattern of its {@link ZMTPSocketType} (RFC 28 to 31, 41, 48, 49, 51, 52).
 *
 * <pre>{@code
 *   ZMTPSocket pull = ZMTPSocket.of(PULL);
 *   pull.onMessage((peer, message) -> { System.out.println(message); message.release(); });
 *   pull.bind("tcp://127.0.0.1:5555");
 *
 *   ZMTPSocket push = ZMTPSocket.of(PUSH);
 *   push.connect("tcp://127.0.0.1:5555");
 *   push.sendOrDrop(ZMTPMessage.fromUTF8("hello"));
 * }</pre>
 *
 * <p><b>Threads.</b> All methods may be called from any thread, the socket's event loop included; those that wait throw
 * {@link BlockingOperationException} on an event loop. Messages of one thread to one peer keep their order. A socket
 * lives on one event loop, on which handlers and listeners of messages run: they must not block. The event loops of
 * sockets that were given none are daemons, so {@code main} has to stay, for example in {@code closeFuture().join()}.
 *
 * <p><b>Ownership.</b> A message that is sent belongs to the socket, also if the call throws. Only a {@link #trySend}
 * that returns false leaves it with the caller. A message that is received belongs to the receiver, which releases it.
 *
 * <p><b>Bounds.</b> Every queue is bounded, in messages and in bytes: that of each peer, or the one for all of them, as
 * {@link ZMTPSocketConfig#sendLimitMessages()} says. The buffers of the kernel come on top of that, a few MB for each
 * TCP connection.
 *
 * <p><b>Delivery.</b> At most once. What the transport had when a connection ended may or may not have arrived, and its
 * future fails with {@link ZMTPSocketException.Reason#UNKNOWN}. What waits for a peer that this socket connects to is
 * sent when the peer is back.
 *
 * <p><b>Types.</b> A method that the type does not have throws {@link UnsupportedOperationException}.
 */
public final class ZMTPSocket implements AutoCloseable {

    private final SocketCore core;
    private final SocketContext context;
    private final Usage usage;
    private final Exchange exchange;

    private ZMTPSocket(ZMTPSocketConfig config, LongSupplier nanoTime) {
        EventLoopGroup given = config.group();
        EventLoopGroup group = given == null ? SharedGroup.acquire() : given;
        this.core = new SocketCore(
                config, config.transports(), group.next(), nanoTime, given == null ? SharedGroup::release : () -> {});
        this.context = core.context();
        this.usage = new Usage(config.type());
        this.exchange = core.exchange();
        core.open();
    }

    /** Returns a socket of this type with all defaults. It has no connections yet. */
    public static ZMTPSocket of(ZMTPSocketType type) {
        return of(ZMTPSocketConfig.of(type));
    }

    /** As {@link #of(ZMTPSocketType)}, on this event loop, which stays the caller's. */
    public static ZMTPSocket of(ZMTPSocketType type, EventLoop loop) {
        return of(ZMTPSocketConfig.builder(type).group(loop).build());
    }

    /** Returns a socket. It has no connections yet. */
    public static ZMTPSocket of(ZMTPSocketConfig config) {
        return of(config, System::nanoTime);
    }

    /** Returns a socket with a clock that agrees with that of the event loop. */
    static ZMTPSocket of(ZMTPSocketConfig config, LongSupplier nanoTime) {
        return new ZMTPSocket(config, nanoTime);
    }

    /** The type of the socket. */
    public ZMTPSocketType type() {
        return context.type();
    }

    /** The event loop of all its connections, on which handlers are called. */
    public EventLoop loop() {
        return context.eventLoop();
    }

    // Endpoints and peers

    /**
     * Listens at an endpoint: {@code tcp://*:5555}, {@code ipc:///run/service}, {@code inproc://name},
     * {@code shm:///run/service}. The text is checked now, the rest happens later: see {@link ZMTPEndpoint#ready}.
     *
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public ZMTPEndpoint bind(String endpoint) {
        return core.endpoints().bind(endpoint);
    }

    /**
     * Connects to an endpoint, whether or not a peer is there, and again whenever the connection ends. Messages may be
     * sent at once. Connecting a second time to the same text returns the same endpoint, unless that was closed.
     *
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public ZMTPEndpoint connect(String endpoint) {
        return core.endpoints().connect(endpoint, null);
    }

    /**
     * As {@link #connect(String)}, with changes of the protocol's settings for this endpoint alone, such as the key of
     * its server: {@code connect(endpoint, c -> c.mechanism(ZMTPCurve.client(serverKey, keys)))}.
     *
     * @param codec is called now and for each connection
     * @throws IllegalStateException if this socket connects to the endpoint already, perhaps with other settings
     */
    public ZMTPEndpoint connect(String endpoint, Consumer<? super ZMTPConfig.Builder> codec) {
        return core.endpoints().connect(endpoint, Objects.requireNonNull(codec, "codec"));
    }

    /** The peers that are connected now: a snapshot. */
    public Collection<ZMTPPeer> peers() {
        return core.peers().up();
    }

    /** The peer of a ROUTER, SERVER or PEER that has this name and is connected now; null if there is none. */
    public @Nullable ZMTPPeer peer(ByteBuffer name) {
        usage.require(context.namesPeers(), "peer", "ROUTER, SERVER or PEER");
        Peer peer = core.named(name);
        return peer != null && peer.isUp() ? peer : null;
    }

    /** As {@link #peer(ByteBuffer)}, with a name in UTF-8. */
    public @Nullable ZMTPPeer peer(String name) {
        return peer(StandardCharsets.UTF_8.encode(name));
    }

    /**
     * Completes when this many peers are connected; with PUB, XPUB and RADIO, when this many have a subscription or are
     * in a group, so that what is sent then reaches them. Fails with {@code CLOSED}.
     */
    public CompletableFuture<Void> whenPeers(int count) {
        return core.whenPeers(count);
    }

    // Sending

    /**
     * Sends a message if there is room for it now. With ROUTER, SERVER and PEER that is the room of the peer that the
     * message names. One that names no peer is taken, and counted as dropped: {@link #peer(String)} tells whether there
     * is one.
     *
     * @return whether the message was taken; if not, it still belongs to the caller
     */
    public boolean trySend(ZMTPMessage message) {
        usage.checkSend("trySend", message);
        return exchange.trySend(message);
    }

    /** Sends a message, or drops and counts it if there is no room now. What a REQ sends in turn waits for a peer. */
    public void sendOrDrop(ZMTPMessage message) {
        usage.checkSend("sendOrDrop", message);
        exchange.sendOrDrop(message);
    }

    /**
     * Sends a message. If there is no room, it waits in line, with at most {@link ZMTPSocketConfig#maxWaitingSends()}
     * others; with ROUTER, SERVER, PEER and REP it fails with {@code FULL}. To cancel the future changes nothing.
     *
     * @return completes when the transport has written the message; with PUB, XPUB, RADIO and XSUB, when it is queued.
     *     Otherwise it fails with a {@link ZMTPSocketException}, which says why and how far the message came
     */
    public CompletableFuture<Void> sendAsync(ZMTPMessage message) {
        usage.checkSend("sendAsync", message);
        return exchange.send(message);
    }

    /**
     * Sends a message, and waits until there is room for it: with ROUTER, SERVER and PEER in the queue of its peer,
     * otherwise in that of the socket, which has none before there is a peer or a connect. A full queue has room again
     * when a quarter is free. What was lost later is in {@link #stats()}, events and {@link #closeAsync}.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, {@code UNROUTABLE}, {@code PEER_DOWN}, {@code STATE} with REQ
     *     and REP, or {@code FULL} if what has no room is dropped. As with any exception, the message is not sent
     */
    public void send(ZMTPMessage message) throws InterruptedException {
        usage.checkWaitingSend(message);
        exchange.sendAndWait(message, null);
    }

    /** As {@link #send(ZMTPMessage)}, no longer than {@code timeout}. Then it fails with {@code TIMEOUT}. */
    public void send(ZMTPMessage message, Duration timeout) throws InterruptedException {
        Usage.checkTimeout(message, timeout);
        usage.checkWaitingSend(message);
        exchange.sendAndWait(message, timeout);
    }

    /**
     * Returns whether a {@link #trySend} would be taken now. Once the {@linkplain #sendLimit send limit} is reached, it
     * is false until less than a quarter of that is queued.
     *
     * <p>It is also false on the socket's event loop after 1,024 messages in one task, so that a loop over it ends; on
     * a socket that only binds and has no peer, if each message needs one; and on the event loop of a ROUTER, SERVER or
     * PEER after a message was refused there, until something has left. A type that does not send is never writable.
     * Where each peer has a queue, one can be full although the socket is writable: see {@link ZMTPPeer#isWritable()}.
     */
    public boolean isWritable() {
        return core.senders().writability().isOpen();
    }

    /**
     * Adds an action, which is called on the event loop: immediately if the socket {@linkplain #isWritable() is
     * writable}, whenever it becomes writable again after it was not, and once more when the socket is closed. An
     * action that is added to a closed socket is never called. It may send while the socket is writable.
     */
    public ZMTPRegistration onWritable(Runnable action) {
        return core.senders().writability().listen(Objects.requireNonNull(action, "action"));
    }

    /**
     * Sets how much may wait for one peer, with immediate effect, in place of the config's.
     *
     * @param messages at least 1
     * @param bytes at least 1; the message that exceeds it is still taken
     */
    public void sendLimit(int messages, long bytes) {
        core.sendLimit(new QueueLimit(messages, bytes));
    }

    // Receiving

    /**
     * Passes all messages to the handler, on the event loop: the fastest way to receive. Messages that already wait
     * come first. They are as on the wire: that of a ROUTER does not begin with the name of the peer. Not for REQ,
     * whose answers go to {@link #requestAsync}, and REP, which has {@link #serve}.
     *
     * @param handler gets each message with its peer, and releases it. What it throws is logged
     * @throws IllegalStateException if there is another receiver
     */
    public ZMTPRegistration onMessage(BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler) {
        usage.checkReceiveFrom("onMessage");
        return exchange.onMessage(Objects.requireNonNull(handler, "handler"));
    }

    /**
     * Waits for a message. With ROUTER, SERVER and PEER its first frame is the name of the peer. Messages of several
     * peers come in turn. Several threads may wait. One that is interrupted takes no message.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, or with {@code STATE} if messages go elsewhere, or if it is not
     *     the turn of a REQ or REP to receive
     */
    public ZMTPMessage receive() throws InterruptedException {
        usage.checkWaitingReceive();
        return Objects.requireNonNull(exchange.receiveAndWait(null), "it waits until there is one");
    }

    /** As {@link #receive()}, no longer than {@code timeout}. Returns null if none has come. */
    public @Nullable ZMTPMessage receive(Duration timeout) throws InterruptedException {
        usage.checkWaitingReceive();
        return exchange.receiveAndWait(Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #receive()}, without waiting. A future that is cancelled, or that times out, takes no message. */
    public CompletableFuture<ZMTPMessage> receiveAsync() {
        usage.checkReceive();
        return exchange.receive();
    }

    /**
     * Returns the message that {@link #receive()} would return now; null if it would wait. A message that another
     * receive waits for is not taken. With REP and REQ, null means that it is still the turn to receive.
     *
     * @throws ZMTPSocketException as {@link #receive()} does, also with the failure of what a REQ has asked
     */
    public @Nullable ZMTPMessage tryReceive() {
        usage.checkReceive();
        return exchange.tryReceive();
    }

    /**
     * Waits for a message and returns it with its peer, as {@link #onMessage} does: without the name of the peer. Not
     * for REQ, and REP, which has {@link ZMTPRequest#peer()}. Fails as {@link #receive()} does.
     */
    public ZMTPReceived receiveFrom() throws InterruptedException {
        usage.checkWaitingReceiveFrom();
        return Waiting.receive(exchange.receiveFrom());
    }

    /** As {@link #receiveFrom()}, no longer than {@code timeout}. Returns null if none has come. */
    public @Nullable ZMTPReceived receiveFrom(Duration timeout) throws InterruptedException {
        usage.checkWaitingReceiveFrom();
        return Waiting.receive(exchange.receiveFrom(), Objects.requireNonNull(timeout, "timeout"));
    }

    // Requests

    /** Sends a request and waits for its answer, which the caller releases. See {@link #requestAsync}. */
    public ZMTPMessage request(ZMTPMessage message, Duration timeout) throws InterruptedException {
        Usage.checkMayWait(message);
        return Waiting.answer(requestAsync(message, timeout));
    }

    /**
     * Sends a request of a REQ or DEALER to one peer, and correlates the answer. Any number may be asked for. The peer
     * is a REP, or a ROUTER whose service returns the envelope, which is the frames up to the first empty one. Without
     * {@link ZMTPSocketConfig#correlate()}, a REQ asks each peer one at a time, and a timeout closes the connection.
     *
     * @param message the data, without an envelope
     * @param timeout from now on, also while it waits for a peer
     * @return the data of the answer, which the caller has to release. Fails with {@code TIMEOUT}, {@code PEER_DOWN} as
     *     soon as the connection has ended, {@code FULL} if {@link ZMTPSocketConfig#maxOutstandingRequests()} are
     *     waiting, {@code NO_PEER}, {@code EXPIRED}, {@code MALFORMED}, or {@code CLOSED}. A later answer is dropped
     *     and counted
     */
    public CompletableFuture<ZMTPMessage> requestAsync(ZMTPMessage message, Duration timeout) {
        usage.checkRequest(message, timeout);
        return exchange.request(message, timeout);
    }

    /**
     * Passes requests to a REP or ROUTER to the handler, on the event loop. They may be answered later, in any order,
     * from any thread. At most {@link ZMTPSocketConfig#maxOutstandingRequests()} are with the handler at a time. If it
     * throws, the request is dropped, which is logged.
     *
     * @throws IllegalStateException if there is another receiver
     */
    public ZMTPRegistration serve(Consumer<? super ZMTPRequest> handler) {
        usage.checkServe();
        return exchange.serve(Objects.requireNonNull(handler, "handler"));
    }

    // Subscriptions

    /** As {@link #subscribe(ByteBuf)}, with a topic or group in UTF-8. */
    public ZMTPRegistration subscribe(String topic) {
        return subscribe(Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8));
    }

    /**
     * Subscribes a SUB or XSUB to all messages whose first frame begins with these bytes, or has a DISH join a group of
     * up to 255 bytes without a 0. Each publisher gets that now, or when it is connected, and again after each
     * reconnect. It gets the cancel when the last registration of the topic is closed.
     *
     * @param topic is copied, and still belongs to the caller
     */
    public ZMTPRegistration subscribe(ByteBuf topic) {
        return core.subscriptions().register(usage.topic("subscribe", Unpooled.copiedBuffer(topic)));
    }

    /** As {@link #unsubscribe(ByteBuf)}, with a topic or group in UTF-8. */
    public void unsubscribe(String topic) {
        unsubscribe(Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8));
    }

    /** Takes one registration of the topic or group off, as closing it does. Does nothing if there is none. */
    public void unsubscribe(ByteBuf topic) {
        core.subscriptions().unregister(usage.topic("unsubscribe", Unpooled.copiedBuffer(topic)));
    }

    /**
     * Adds a handler, which is called on the event loop with the topics that the subscribers of a PUB or XPUB ask for:
     * with the first subscription to a topic and the last cancel, also when that subscriber has left.
     *
     * @param all true to report all subscriptions and cancels
     */
    public ZMTPRegistration onSubscription(BiConsumer<? super ZMTPPeer, ZMTPSubscription> handler, boolean all) {
        usage.require(context.type().isPublisher(), "onSubscription", "PUB or XPUB");
        return core.subscribers().listen(Objects.requireNonNull(handler, "handler"), all);
    }

    // Events and the end

    /**
     * Adds a listener, which gets all events, in order, on the executor. It may block: up to 1,024 events wait for it,
     * and further ones are counted in its {@link ZMTPSocketEvent.Missed}.
     */
    public ZMTPRegistration onEvent(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
        return context.events()
                .listen(Objects.requireNonNull(executor, "executor"), Objects.requireNonNull(listener, "listener"));
    }

    /** What has happened to its messages so far. The numbers may be slightly out of date. */
    public ZMTPStats stats() {
        return core.stats();
    }

    /**
     * Closes the socket. Nothing more is accepted, and sends that wait, receives and requests fail. What is queued has
     * {@code linger} to leave, and peers have the rest of it to read that and close. A second call changes nothing.
     *
     * @return always completes, at the latest shortly after {@code linger}. What was lost is counted as dropped or
     *     unknown
     */
    public CompletableFuture<ZMTPStats> closeAsync(Duration linger) {
        Settings.notNegative("linger", linger);
        return core.close(linger);
    }

    /** The future of {@link #closeAsync}. This does not close. */
    public CompletableFuture<ZMTPStats> closeFuture() {
        return core.report();
    }

    /**
     * As {@link #closeAsync} with {@link ZMTPSocketConfig#linger()}, and waits for the end, unless it is called on an
     * event loop or the thread is interrupted.
     */
    @Override
    public void close() {
        Waiting.end(closeAsync(context.config().linger()));
    }

    /** Shows the type and the number of peers. */
    @Override
    public String toString() {
        return "ZMTPSocket{" + context.type() + ", peers="
                + core.peers().connected().there() + "}";
    }

    SocketCore core() {
        return core;
    }
}
