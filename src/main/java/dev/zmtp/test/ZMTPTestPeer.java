package dev.zmtp.test;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.transport.Endpoint;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Peer of a socket in a test, which sends exactly what the test says, including bytes that a socket would never send.
 * It speaks ZMTP 3.1 with the NULL mechanism (RFC 37) over {@code test://} endpoints of a {@link ZMTPTestLoop}.
 *
 * <pre>{@code
 *   ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, "test://service", DEALER);
 *   peer.send("", "question");
 *   assertThat(peer.receive()).containsExactly("", "answer");
 *   peer.raw(new byte[] {(byte) 0xff}); // no flags of any frame
 *   assertThat(peer.isClosed()).isTrue();
 * }</pre>
 *
 * <p>The handshake needs no call. PINGs are answered. Call all methods on the thread of the loop. Each method runs the
 * tasks of the loop that are due.
 */
public final class ZMTPTestPeer implements AutoCloseable {

    private final ZMTPTestLoop loop;
    private final ZMTPSocketType type;
    private final String routingId;
    private final @Nullable Channel server;
    private final ReceivedFrames received = new ReceivedFrames();
    private boolean reads = true;
    private @Nullable TestConnection connection;

    private ZMTPTestPeer(ZMTPTestLoop loop, ZMTPSocketType type, String routingId, String text, boolean binds) {
        this.loop = loop;
        this.type = type;
        this.routingId = routingId;
        VirtualLoop virtual = loop.virtual();
        Endpoint endpoint = Endpoint.parse(Map.of(virtual.bytes().scheme(), virtual.bytes()), text, binds);
        loop.add(this);
        loop.run(); // a socket can be about to bind
        this.server = binds ? bind(virtual, endpoint) : null;
        if (!binds) {
            connect(virtual, endpoint);
        }
        loop.run();
    }

    /**
     * Connects to a socket of the loop.
     *
     * @param endpoint endpoint such as {@code test://service}, to which a socket is bound
     * @param type socket type that this peer announces
     * @throws AssertionError if no socket is bound to the endpoint
     */
    public static ZMTPTestPeer connect(ZMTPTestLoop loop, String endpoint, ZMTPSocketType type) {
        return connect(loop, endpoint, type, "");
    }

    /**
     * Like {@link #connect(ZMTPTestLoop, String, ZMTPSocketType)}, and announces a routing id, in UTF-8. An empty text
     * announces none.
     */
    public static ZMTPTestPeer connect(ZMTPTestLoop loop, String endpoint, ZMTPSocketType type, String routingId) {
        return new ZMTPTestPeer(loop, type, routingId, endpoint, false);
    }

    /**
     * Binds to an endpoint to which a socket of the loop can connect before or after this call. The peer accepts a
     * single connection at a time. Further connections are closed at once until it has ended.
     *
     * @param endpoint endpoint such as {@code test://service}
     * @param type socket type that this peer announces
     * @throws AssertionError if the endpoint is in use
     */
    public static ZMTPTestPeer bind(ZMTPTestLoop loop, String endpoint, ZMTPSocketType type) {
        return new ZMTPTestPeer(loop, type, "", endpoint, true);
    }

    private Channel bind(VirtualLoop virtual, Endpoint endpoint) {
        ChannelFuture bound = new ServerBootstrap()
                .group(virtual)
                .channelFactory(endpoint.transport()::serverChannel)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        if (connection != null && connection.isActive()) {
                            ch.close();
                        } else {
                            ch.pipeline().addLast(newConnection());
                        }
                    }
                })
                .bind(socketAddress(endpoint));
        loop.run();
        checkDone(bound, endpoint, "a free endpoint");
        return bound.channel();
    }

    private void connect(VirtualLoop virtual, Endpoint endpoint) {
        ChannelFuture connected = connect(virtual, endpoint, newConnection());
        loop.run();
        checkDone(connected, endpoint, "an endpoint to which a socket is bound");
    }

    static ChannelFuture connect(VirtualLoop virtual, Endpoint endpoint, TestConnection connection) {
        return new Bootstrap()
                .group(virtual)
                .channelFactory(endpoint.transport()::channel)
                .handler(connection)
                .connect(socketAddress(endpoint));
    }

    private static SocketAddress socketAddress(Endpoint endpoint) {
        try {
            return endpoint.address().resolve().get(0);
        } catch (IOException e) { // not of a name within the process
            throw new UncheckedIOException(e);
        }
    }

    private static void checkDone(ChannelFuture future, Endpoint endpoint, String expected) {
        if (!future.isSuccess()) {
            throw new AssertionError("endpoint: " + endpoint + " (expected: " + expected + ")", future.cause());
        }
    }

    private TestConnection newConnection() {
        received.newConnection();
        TestConnection its = new TestConnection(type, routingId.getBytes(StandardCharsets.UTF_8), received);
        its.reading(reads);
        connection = its;
        return its;
    }

    /** Sends a message of these frames, in UTF-8. */
    public void send(String... frames) {
        byte[][] bodies = new byte[frames.length][];
        for (int i = 0; i < frames.length; i++) {
            bodies[i] = frames[i].getBytes(StandardCharsets.UTF_8);
        }
        sendBytes(bodies);
    }

    /** Sends a message of these frames. */
    public void sendBytes(byte[]... frames) {
        if (frames.length == 0) {
            throw new IllegalArgumentException("frames: 0 (expected: >= 1)");
        }
        write(to -> to.sendMessage(List.of(frames)));
    }

    /** Sends these bytes as they are, after the handshake. */
    public void raw(byte[] bytes) {
        write(to -> to.write(Unpooled.copiedBuffer(bytes)));
    }

    private void write(Consumer<TestConnection> bytes) {
        loop.run();
        TestConnection to = connection;
        if (to == null || !to.isActive()) {
            throw new AssertionError("peer: not connected (expected: a connection)");
        }
        bytes.accept(to);
        loop.run();
    }

    /**
     * Returns the frames of the next message, in UTF-8. When about 1,000 messages wait here, this peer does not read.
     *
     * @throws AssertionError if there is none
     */
    public List<String> receive() {
        return receiveBytes().stream()
                .map(frame -> new String(frame, StandardCharsets.UTF_8))
                .toList();
    }

    /**
     * Returns the frames of the next message, such as a request of a DEALER, which begins with a binary id.
     *
     * @throws AssertionError if there is none
     */
    public List<byte[]> receiveBytes() {
        loop.run();
        List<byte[]> next = received.poll();
        if (next == null) {
            throw new AssertionError("message: none (expected: a message of the socket)");
        }
        if (connection != null) {
            connection.readIfWanted();
        }
        loop.run();
        return next;
    }

    /** Returns whether no message waits to be received. */
    public boolean isEmpty() {
        loop.run();
        return received.isEmpty();
    }

    /** Returns the topics that the socket, a SUB or XSUB, has subscribed to at this peer, in order. */
    public List<String> subscriptions() {
        loop.run();
        return received.subscriptions();
    }

    /** Subscribes to a topic of the socket, a PUB or XPUB. */
    public void subscribe(String topic) {
        write(to -> to.sendSubscription("SUBSCRIBE", topic.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Stops reading, also on later connections, so that messages of the socket wait in the transport, then in the queue
     * of the socket.
     */
    public void stopReading() {
        reading(false);
    }

    /** Undoes {@link #stopReading}. */
    public void resumeReading() {
        reading(true);
    }

    private void reading(boolean on) {
        loop.run();
        reads = on;
        TestConnection its = connection;
        if (its != null) {
            its.reading(on);
        }
        loop.run();
    }

    /** Returns whether there is no connection, because it was not made yet, or has ended. */
    public boolean isClosed() {
        loop.run();
        TestConnection its = connection;
        return its == null || !its.isActive();
    }

    /** Ends the connection, and no longer accepts another. */
    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
        if (connection != null) {
            connection.close();
        }
        loop.run();
    }
}
