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
import org.jspecify.annotations.Nullable;

/**
 * ZeroMQ socket that binds and connects to any number of endpoints, distributes outgoing messages among its peers, and
 * collects incoming messages, by the pattern of its {@link ZMTPSocketType} (RFC 28 to 31, 41, 48, 49, 51, 52).
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
 * <p><b>Threads.</b> All methods can be called from any thread. On an event loop, methods that wait throw
 * {@link BlockingOperationException}, except {@link #close}, which does not wait there. Messages of a thread to the
 * same peer keep their order. Handlers and actions run on the socket's only event loop and must not block. The default
 * event loops are daemon threads, so keep {@code main} alive, for example in {@code closeFuture().join()}.
 *
 * <p><b>Ownership.</b> A sent message belongs to the socket, even if the call throws. Only a {@link #trySend} that
 * returns false leaves the message with the caller. A received message belongs to the receiver, which releases it.
 *
 * <p><b>Bounds.</b> Every queue is bounded in messages and in bytes, whether it belongs to a peer or is shared by all
 * peers (see {@link ZMTPSocketConfig#sendQueueLimitMessages()}). Kernel buffers add a few MB for each TCP connection.
 *
 * <p><b>Delivery.</b> At most once. If the transport held a message when the connection ended, it is unknown whether it
 * has arrived, and its future fails with {@link ZMTPSocketException.Reason#OUTCOME_UNKNOWN}. Messages queued for a peer
 * that this socket connects to are sent after the peer has reconnected.
 *
 * <p><b>Types.</b> A method that the type does not support throws {@link UnsupportedOperationException}.
 */
public final class ZMTPSocket implements AutoCloseable {

    private final SocketCore core;
    private final SocketContext context;
    private final Usage usage;
    private final Exchange exchange;

    private ZMTPSocket(ZMTPSocketConfig config) {
        EventLoopGroup given = config.group();
        EventLoopGroup group = given == null ? SharedGroup.acquire() : given;
        Runnable whenClosed = given == null ? SharedGroup::release : () -> {};
        this.core = new SocketCore(config, config.transports(), group.next(), ZMTPStats::new, whenClosed);
        this.context = core.context();
        this.usage = new Usage(config);
        this.exchange = core.exchange();
        core.open();
    }

    /** Returns a socket of this type with all defaults and without connections. */
    public static ZMTPSocket of(ZMTPSocketType type) {
        return of(ZMTPSocketConfig.of(type));
    }

    /** Like {@link #of(ZMTPSocketType)}, on this event loop, which remains owned by the caller. */
    public static ZMTPSocket of(ZMTPSocketType type, EventLoop loop) {
        return of(ZMTPSocketConfig.builder(type).group(loop).build());
    }

    /** Returns a socket without connections. */
    public static ZMTPSocket of(ZMTPSocketConfig config) {
        return new ZMTPSocket(config);
    }

    /** Returns the type of the socket. */
    public ZMTPSocketType socketType() {
        return context.type();
    }

    /** Returns the event loop of all connections, on which handlers are called. */
    public EventLoop eventLoop() {
        return context.eventLoop();
    }

    /**
     * Listens at an endpoint such as {@code tcp://*:5555}, {@code ipc:///run/service}, {@code inproc://name} or
     * {@code shm:///run/service}. The text is checked at once, and bound later (see {@link ZMTPEndpoint#readyFuture}).
     *
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public ZMTPEndpoint bind(String endpoint) {
        return core.endpoints().bind(endpoint);
    }

    /**
     * Connects to an endpoint, whether or not a peer is there, and again whenever the connection ends. Messages can be
     * sent at once. Connecting again to the same text returns the same endpoint, unless that endpoint was closed.
     *
     * @throws IllegalArgumentException if the text is not an endpoint
     */
    public ZMTPEndpoint connect(String endpoint) {
        return core.endpoints().connect(endpoint, null);
    }

    /**
     * Like {@link #connect(String)}, with protocol settings for this endpoint only, such as the key of its server:
     * {@code connect(endpoint, c -> c.mechanism(ZMTPCurve.client(serverKey, keys)))}.
     *
     * @param codec callback that changes the settings, called immediately and for each connection
     * @throws IllegalStateException if this socket already connects to the endpoint, perhaps with other settings
     */
    public ZMTPEndpoint connect(String endpoint, Consumer<? super ZMTPConfig.Builder> codec) {
        return core.endpoints().connect(endpoint, Objects.requireNonNull(codec, "codec"));
    }

    /** Returns a snapshot of the currently connected peers. */
    public Collection<ZMTPPeer> peers() {
        return core.peers().up();
    }

    /** Returns the connected peer of a ROUTER, SERVER or PEER with this routing id, or null if there is none. */
    public @Nullable ZMTPPeer peer(ByteBuffer routingId) {
        usage.require(context.namesPeers(), "peer", "ROUTER, SERVER or PEER");
        Peer peer = core.named(routingId);
        return peer != null && peer.isUp() ? peer : null;
    }

    /** Like {@link #peer(ByteBuffer)}, with a routing id in UTF-8. */
    public @Nullable ZMTPPeer peer(String routingId) {
        return peer(StandardCharsets.UTF_8.encode(routingId));
    }

    /**
     * Returns a future that completes when this many peers are connected. With PUB, XPUB and RADIO, only peers with a
     * subscription or a group count, so that messages sent afterwards reach them. Fails with {@code CLOSED}.
     */
    public CompletableFuture<Void> whenPeers(int count) {
        return core.whenPeers(count);
    }

    // Sending

    /**
     * Sends a message if there is room for it now. With ROUTER, SERVER and PEER, this is room in the queue of the peer
     * that the message is for. A message for an unknown peer is accepted and counted as dropped. {@link #peer(String)}
     * finds known peers.
     *
     * @return whether the message was accepted; if not, it remains owned by the caller
     */
    public boolean trySend(ZMTPMessage message) {
        usage.checkSend("trySend", message);
        return exchange.trySend(message);
    }

    /** Sends a message, or drops and counts it if there is no room. A REQ queues a message sent in its turn. */
    public void sendOrDrop(ZMTPMessage message) {
        usage.checkSend("sendOrDrop", message);
        exchange.sendOrDrop(message);
    }

    /**
     * Sends a message. If there is no room, the message waits, unless {@link ZMTPSocketConfig#maxWaitingSends()}
     * messages already wait or the type is ROUTER, SERVER, PEER or REP. In these cases, the future fails with
     * {@code FULL}. Cancelling the future has no effect.
     *
     * @return completes when the transport has written the message; with PUB, XPUB, RADIO and XSUB, when it is queued.
     *     Otherwise it fails with a {@link ZMTPSocketException}, which states the reason and how far the message got
     */
    public CompletableFuture<Void> sendAsync(ZMTPMessage message) {
        usage.checkSend("sendAsync", message);
        return exchange.send(message);
    }

    /**
     * Sends a message, and waits until there is room for it. With ROUTER, SERVER and PEER, this is room in the queue of
     * the peer that the message is for. With other types, it is room in the queue of the socket, which has no room
     * before the first peer or {@link #connect}. After a queue was full, waiting threads continue when a quarter of it
     * is free. Later losses are reported by {@link #stats()}, events and {@link #closeAsync}.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, {@code UNROUTABLE}, {@code PEER_DOWN}, {@code ILLEGAL_STATE}
     *     with REQ and REP, or {@code FULL} if full queues drop messages. The message is not sent then
     */
    public void send(ZMTPMessage message) throws InterruptedException {
        usage.checkWaitingSend(message);
        exchange.sendAndWait(message, null);
    }

    /** Like {@link #send(ZMTPMessage)}, for at most {@code timeout}. Then it fails with {@code TIMEOUT}. */
    public void send(ZMTPMessage message, Duration timeout) throws InterruptedException {
        Usage.checkTimeout(message, timeout);
        usage.checkWaitingSend(message);
        exchange.sendAndWait(message, timeout);
    }

    /**
     * Returns whether there is room to send. Once the {@linkplain #resizeSendQueue send queue limit} is reached, this
     * is false until less than a quarter of it is queued, or until a quarter is free if waiting threads have continued,
     * even if another thread's {@link #trySend} succeeds earlier.
     *
     * <p>On the socket's event loop it is also false after 1,024 messages in one task, so that a sending loop ends,
     * and after a request was refused because too many are outstanding, until one has ended or a message has left.
     * With ROUTER, SERVER and PEER, it is false there after a message was refused, until another is accepted or one
     * has left. If all peers share a queue, it is false if the socket only binds and has no peer. A type that does not
     * send is never writable. A peer's queue can be full although this is true (see {@link ZMTPPeer#isWritable()}).
     */
    public boolean isWritable() {
        return core.senders().writability().isOpen();
    }

    /**
     * Adds an action, which is called on the event loop: immediately if the socket
     * {@linkplain #isWritable() is writable}, whenever it becomes writable again after it had no room for a message or
     * {@link #isWritable} returned false, and once more when the socket is closed. An action that is added to a closed
     * socket is never called. An action may send while the socket is writable.
     */
    public ZMTPRegistration onWritable(Runnable action) {
        return core.senders().writability().listen(Objects.requireNonNull(action, "action"));
    }

    /**
     * Changes the send queue limit per peer with immediate effect, replacing that of the config.
     *
     * @param messages at least 1
     * @param bytes at least 1; the message with which a queue exceeds it is still accepted
     */
    public void resizeSendQueue(int messages, long bytes) {
        core.resizeSendQueue(new QueueLimit(messages, bytes));
    }

    // Receiving

    /**
     * Passes all messages to the handler on the event loop, which is the fastest way to receive. Queued messages are
     * passed first. Messages are as on the wire, so a message that a ROUTER receives does not begin with the
     * routing id of the peer. Not for REQ, which has {@link #requestAsync}, or for REP, which has {@link #serve}.
     *
     * @param handler receives each message with its peer, and releases it. Its exceptions are logged
     * @throws IllegalStateException if there is another receiver
     */
    public ZMTPRegistration onMessage(BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler) {
        usage.checkReceiveFrom("onMessage");
        return exchange.onMessage(Objects.requireNonNull(handler, "handler"));
    }

    /**
     * Waits for a message. With ROUTER, SERVER and PEER its first frame is the routing id of the peer. Messages of
     * several peers are received in turn. Several threads can wait. An interrupted thread takes no message.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, or with {@code ILLEGAL_STATE} if another receiver gets the
     *     messages, or if it is not the turn of a REQ or REP to receive
     */
    public ZMTPMessage receive() throws InterruptedException {
        usage.checkWaitingReceive();
        return Objects.requireNonNull(exchange.receiveAndWait(null), "it waits until there is one");
    }

    /** Like {@link #receive()}, for at most {@code timeout}. Returns null if no message has arrived. */
    public @Nullable ZMTPMessage receive(Duration timeout) throws InterruptedException {
        usage.checkWaitingReceive();
        return exchange.receiveAndWait(Objects.requireNonNull(timeout, "timeout"));
    }

    /** Like {@link #receive()}, without waiting. A future that is cancelled or times out takes no message. */
    public CompletableFuture<ZMTPMessage> receiveAsync() {
        usage.checkReceive();
        return exchange.receive();
    }

    /**
     * Returns the message that {@link #receive()} would return now, or null if it would wait. A message that another
     * receive waits for is not taken. With REP and REQ, null means that it is still the turn to receive.
     *
     * @throws ZMTPSocketException like {@link #receive()}, also with the failure of a REQ's request
     */
    public @Nullable ZMTPMessage tryReceive() {
        usage.checkReceive();
        return exchange.tryReceive();
    }

    /**
     * Waits for a message and returns it with its peer, but without the routing id (see {@link #onMessage}). Not for
     * REQ, or for REP, which has {@link ZMTPRequest#peer()}. Fails like {@link #receive()}.
     */
    public ZMTPReceived receiveFrom() throws InterruptedException {
        usage.checkWaitingReceiveFrom();
        return Waiting.receive(exchange.receiveFrom());
    }

    /** Like {@link #receiveFrom()}, for at most {@code timeout}. Returns null if no message has arrived. */
    public @Nullable ZMTPReceived receiveFrom(Duration timeout) throws InterruptedException {
        usage.checkWaitingReceiveFrom(timeout);
        return Waiting.receive(exchange.receiveFrom(), timeout);
    }

    /** Sends a request and waits for its reply, which the caller releases. See {@link #requestAsync}. */
    public ZMTPMessage request(ZMTPMessage message, Duration timeout) throws InterruptedException {
        Usage.checkWaitingRequest(message);
        return Waiting.answer(requestAsync(message, timeout));
    }

    /**
     * Sends a request of a REQ or DEALER to a single peer, and correlates the reply. Many requests can be in flight.
     * The peer is a REP, or a ROUTER whose service returns the envelope (all frames up to and including the first empty
     * frame). Without {@link ZMTPSocketConfig#correlateRequests()}, a REQ sends one request at a time to each peer, and
     * a timeout closes the connection.
     *
     * @param message the data, without an envelope
     * @param timeout maximum time from now on, including the wait for a peer
     * @return the data of the reply, to be released by the caller. Fails with {@code TIMEOUT}, {@code PEER_DOWN} as
     *     soon as the connection has ended, {@code FULL} if {@link ZMTPSocketConfig#maxOutstandingRequests()} are
     *     waiting, {@code NO_PEER}, {@code EXPIRED}, {@code MALFORMED}, or {@code CLOSED}. Late replies are dropped and
     *     counted, unless a timeout has closed the connection
     */
    public CompletableFuture<ZMTPMessage> requestAsync(ZMTPMessage message, Duration timeout) {
        usage.checkRequest(message, timeout);
        return exchange.request(message, timeout);
    }

    /**
     * Passes the requests that a REP or ROUTER receives to the handler, on the event loop. The requests can be answered
     * later, in any order, from any thread. At most {@link ZMTPSocketConfig#maxOutstandingRequests()} are with the
     * handler at a time. If the handler throws, the request is dropped, and the failure is logged.
     *
     * @throws IllegalStateException if there is another receiver
     */
    public ZMTPRegistration serve(Consumer<? super ZMTPRequest> handler) {
        usage.checkServe();
        return exchange.serve(Objects.requireNonNull(handler, "handler"));
    }

    // Subscriptions

    /** Like {@link #subscribe(ByteBuf)}, with a topic or group in UTF-8. */
    public ZMTPRegistration subscribe(String topic) {
        return subscribe(Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8));
    }

    /**
     * Subscribes a SUB or XSUB to all messages whose first frame begins with these bytes, or joins a DISH to a group
     * of up to 255 bytes without a zero byte. The subscription is sent to each publisher, now or when it is connected,
     * and after each reconnect. The cancellation is sent when the last registration of the topic is closed.
     *
     * @param topic the topic or group, which is copied and remains owned by the caller
     */
    public ZMTPRegistration subscribe(ByteBuf topic) {
        return core.subscriptions().register(usage.newTopic("subscribe", Unpooled.copiedBuffer(topic)));
    }

    /** Like {@link #unsubscribe(ByteBuf)}, with a topic or group in UTF-8. */
    public void unsubscribe(String topic) {
        unsubscribe(Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8));
    }

    /** Removes a single registration of the topic or group, like closing it. Does nothing if there is none. */
    public void unsubscribe(ByteBuf topic) {
        core.subscriptions().unregister(usage.topic("unsubscribe", Unpooled.copiedBuffer(topic)));
    }

    /**
     * Adds a handler, which is called on the event loop with the subscriptions of the peers of a PUB or XPUB. It gets
     * the first subscription to a topic and the last cancellation, including when a subscriber leaves.
     */
    public ZMTPRegistration onSubscription(BiConsumer<? super ZMTPPeer, ? super ZMTPSubscription> handler) {
        usage.checkOnSubscription("onSubscription");
        return core.subscribers().listen(Objects.requireNonNull(handler, "handler"), false);
    }

    /** Like {@link #onSubscription}, with each subscription and each cancellation of every peer. */
    public ZMTPRegistration onEverySubscription(BiConsumer<? super ZMTPPeer, ? super ZMTPSubscription> handler) {
        usage.checkOnSubscription("onEverySubscription");
        return core.subscribers().listen(Objects.requireNonNull(handler, "handler"), true);
    }

    /**
     * Adds a listener, which receives all events, in order, on the executor. The listener may block. Up to 1,024 events
     * are queued for it, and further events are counted in its {@link ZMTPSocketEvent.Missed}.
     */
    public ZMTPRegistration onEvent(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
        return context.events()
                .listen(Objects.requireNonNull(executor, "executor"), Objects.requireNonNull(listener, "listener"));
    }

    /** Adds an observer of the requests that the socket makes and serves. */
    public ZMTPRegistration observeRequests(ZMTPRequestObserver observer) {
        return context.requestObservers().add(Objects.requireNonNull(observer, "observer"));
    }

    /** Returns the message counts of the socket so far. The numbers can be slightly out of date. */
    public ZMTPStats stats() {
        return core.stats();
    }

    /**
     * Closes the socket. It accepts no more messages, and waiting sends, receives and requests fail. Queued messages
     * have {@code linger} to leave, and peers have the rest of that time to read them and close. A second call changes
     * nothing.
     *
     * @return always completes, at the latest shortly after {@code linger}. Lost messages count as dropped or unknown
     */
    public CompletableFuture<ZMTPStats> closeAsync(Duration linger) {
        Settings.notNegative("linger", linger);
        return core.close(linger);
    }

    /** Returns the future of {@link #closeAsync}, without closing the socket. */
    public CompletableFuture<ZMTPStats> closeFuture() {
        return core.report();
    }

    /**
     * Calls {@link #closeAsync} with {@link ZMTPSocketConfig#linger()}, and waits for the end, unless it is called on
     * an event loop or the thread is interrupted.
     */
    @Override
    public void close() {
        Waiting.end(closeAsync(context.config().linger()));
    }

    /** Returns the type and the number of peers. */
    @Override
    public String toString() {
        return "ZMTPSocket{" + context.type() + ", peers="
                + core.peers().connected().there() + "}";
    }

    SocketCore core() {
        return core;
    }
}
