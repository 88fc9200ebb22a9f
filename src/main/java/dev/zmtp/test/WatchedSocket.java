package dev.zmtp.test;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.socket.context.Bystander;
import dev.zmtp.internal.transport.InprocTransport;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPStats;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A socket with its connections, the messages that it has received, and the failures of its handlers. */
final class WatchedSocket {

    /** Number of messages from which on those that were released are forgotten. */
    private static final int MANY = 1_024;

    /** Maximum number of messages that are named. */
    private static final int MAX_NAMED = 5;

    final ZMTPSocket socket;
    private final Set<Channel> connections = new LinkedHashSet<>();

    /** Messages that were live when this was last checked, with the endpoint that received them. */
    private final IdentityHashMap<ZMTPMessage, ZMTPEndpoint> messages = new IdentityHashMap<>();

    private int many = MANY;
    private final Set<String> listeners = new LinkedHashSet<>();
    private final List<Throwable> failures = new ArrayList<>();

    WatchedSocket(EventLoop loop, ZMTPSocketConfig config) {
        this.socket = ZMTPSocket.of(config.toBuilder()
                .group(loop)
                .codec(codec -> codec.handshakeExecutor(loop))
                .pipelineInitializer((endpoint, pipeline) -> {
                    config.pipelineInitializer().accept(endpoint, pipeline);
                    pipeline.addLast(new Connection(endpoint));
                })
                .build());
        socket.onEvent(Runnable::run, (Bystander) this::heard);
    }

    private void heard(ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.HandlerFailed failed) {
            failures.add(failed.cause());
        } else if (event instanceof ZMTPSocketEvent.Listening listening) {
            listeners.add(listening.endpoint());
        } else if (event instanceof ZMTPSocketEvent.Stopped stopped) {
            listeners.remove(stopped.endpoint());
        }
    }

    /** Returns the endpoints that the socket is bound to. */
    List<String> listeners() {
        return List.copyOf(listeners);
    }

    /** Returns the failures of handlers since the last call. */
    List<Throwable> takeFailures() {
        List<Throwable> taken = List.copyOf(failures);
        failures.clear();
        return taken;
    }

    /** Closes the channels without the part of an end that a peer or a handler could notice before. */
    void cut() {
        List.copyOf(connections).forEach(InprocTransport::cut);
    }

    CompletableFuture<ZMTPStats> close() {
        return socket.closeAsync(Duration.ZERO);
    }

    /** Returns a text for each received message that was not released. */
    List<String> unreleased() {
        forgetReleased();
        List<String> texts = new ArrayList<>();
        messages.forEach((message, endpoint) -> {
            if (texts.size() < MAX_NAMED) {
                texts.add(socket.socketType() + " at " + endpoint.text() + ": " + message + " was not released");
            }
        });
        if (messages.size() > MAX_NAMED) {
            texts.add("and " + (messages.size() - MAX_NAMED) + " more messages");
        }
        return texts;
    }

    private void received(ZMTPEndpoint endpoint, ZMTPMessage message) {
        messages.put(message, endpoint);
        if (messages.size() >= many) {
            forgetReleased();
            many = MANY + 2 * messages.size();
        }
    }

    /**
     * Returns a message with the same frames that is an object of its own: it is neither recycled, so that a later
     * message cannot be taken for it, nor replaced by a copy in a queue. Takes ownership of the given message.
     */
    private static ZMTPMessage distinct(ZMTPMessage received) {
        ZMTPMessage message = MessageMemory.compact(received);
        try {
            ZMTPMessage.Builder builder = new ZMTPMessage.Builder(); // whose first message is not recycled by others
            for (int i = 0; i < message.size(); i++) {
                builder.add(message.frame(i).retainedDuplicate());
            }
            return builder.build();
        } finally {
            message.release();
        }
    }

    private void forgetReleased() {
        messages.keySet().removeIf(message -> message.refCnt() == 0);
    }

    private final class Connection extends ChannelInboundHandlerAdapter {

        private final ZMTPEndpoint endpoint;

        Connection(ZMTPEndpoint endpoint) {
            this.endpoint = endpoint;
        }

        @Override
        public void channelRegistered(ChannelHandlerContext ctx) { // all handlers are there by then
            connections.add(ctx.channel());
            ctx.pipeline().addBefore(ctx.pipeline().lastContext().name(), null, new Received(endpoint));
            ctx.fireChannelRegistered();
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext ctx) {
            connections.remove(ctx.channel());
            ctx.fireChannelUnregistered();
        }
    }

    private final class Received extends ChannelInboundHandlerAdapter {

        private final ZMTPEndpoint endpoint;

        Received(ZMTPEndpoint endpoint) {
            this.endpoint = endpoint;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object received) {
            if (received instanceof ZMTPMessage message) {
                ZMTPMessage distinct = distinct(message);
                received(endpoint, distinct);
                ctx.fireChannelRead(distinct);
            } else {
                ctx.fireChannelRead(received);
            }
        }
    }
}
