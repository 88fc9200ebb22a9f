package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * This library's sockets, with all their defaults, on one event loop at each end.
 *
 * <p>A publisher waits for its slowest subscriber where the cell does not say that it drops, so that what is counted is
 * what arrived.
 */
final class ZmtpSockets {

    /** Connections that are being made at the same time: a socket refuses more than 64 of one address. */
    private static final int CONNECTING = 16;

    private static final String INPROC = "inproc://pair";

    private final Program program;
    private final Arguments arguments;
    private final Netty42 transport;
    private final Semaphore connecting = new Semaphore(CONNECTING);
    private final Semaphore connected = new Semaphore(0);

    private ZmtpSockets(Program program, Netty42 transport) {
        this.program = program;
        this.arguments = program.arguments();
        this.transport = transport;
    }

    static void start(Program program) throws Exception {
        Arguments arguments = program.arguments();
        switch (arguments.workload()) {
            case CUSTOM -> throw new UnsupportedException("sockets have no custom encoders and decoders");
            case LATENCY -> throw new UnsupportedException("sockets are measured by replies, and by news");
            case OPENLOOP -> {
                if (arguments.every() > 1) {
                    throw new UnsupportedException("each request is answered");
                }
            }
            default -> {}
        }
        if (arguments.busy()) {
            throw new UnsupportedException("sockets are measured with event loops that block");
        }
        if (arguments.medium() == Medium.IPC || arguments.medium() == Medium.SHM) {
            throw new UnsupportedException("sockets are measured over TCP, WebSocket and inproc");
        }
        if (arguments.view() == View.VIRTUAL && Runtime.version().feature() < 21) {
            throw new UnsupportedException("virtual threads need JDK 21");
        }
        new ZmtpSockets(program, Netty42.of(program)).start();
    }

    private void start() throws Exception {
        EventLoopGroup loop = transport.group();
        if (arguments.workload() == Workload.PROXY) {
            new SocketProxies(program, loop, transport.group()).start();
            return;
        }
        String endpoint = endpoint(arguments.port());
        if (arguments.role().binds()) {
            endpoint = bind(loop);
        }
        if (arguments.role().connects()) {
            connect(arguments.loops() == 1 ? loop : transport.group(), endpoint);
        }
    }

    private String endpoint(int port) {
        return switch (arguments.medium()) {
            case INPROC -> INPROC;
            case WS -> "ws://127.0.0.1:" + port;
            default -> "tcp://127.0.0.1:" + port;
        };
    }

    private String bind(EventLoopGroup loop) {
        ZMTPSocket socket = ZMTPSocket.of(config(loop, true));
        SocketTraffic.of(program, transport, loop.next(), program.messages(true))
                .bind(socket);
        String endpoint = socket.bind(endpoint(0)).readyFuture().join().text();
        if (arguments.medium() != Medium.INPROC) {
            program.bound(URI.create(endpoint).getPort());
        }
        return endpoint;
    }

    private void connect(EventLoopGroup loop, String endpoint) throws Exception {
        ZMTPSocketConfig config = config(loop, false);
        Counter messages = program.messages(false);
        SocketTraffic traffic = SocketTraffic.of(program, transport, loop.next(), messages);
        if (arguments.workload() == Workload.CONNECTS) {
            SocketConnects connects = new SocketConnects(program, config, endpoint, messages, traffic.request());
            loop.next().execute(connects::start);
            program.ready();
            return;
        }
        MuteSubscriber.openAll(arguments);
        List<ZMTPSocket> sockets = new ArrayList<>();
        for (int i = 0; i < arguments.connections(); i++) {
            ZMTPSocket socket = ZMTPSocket.of(config);
            socket.onEvent(Runnable::run, this::happened);
            traffic.prepare(socket);
            connecting.acquire();
            socket.connect(endpoint);
            sockets.add(socket);
        }
        connected.acquire(sockets.size());
        program.ready();
        traffic.go(sockets);
    }

    /** An end of a connection would be made good by another one, and spoil a figure without a word. */
    private void happened(ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.PeerUp) {
            connecting.release();
            connected.release();
        } else if (event instanceof ZMTPSocketEvent.PeerDown || event instanceof ZMTPSocketEvent.HandshakeFailed) {
            program.fail(new IOException(event + " (expected: a connection that lasts)"));
        }
    }

    private ZMTPSocketConfig config(EventLoopGroup loop, boolean binding) {
        ZMTPSocketType type = type(binding);
        ZMTPSocketConfig.Builder config =
                arguments.curve() ? ZMTPSocketConfig.builder(secure(type, binding)) : ZMTPSocketConfig.builder(type);
        if (arguments.workload() == Workload.PUBSUB && type == ZMTPSocketType.PUB && !arguments.drops()) {
            config.overflowPolicy(OverflowPolicy.WAIT);
        }
        if (arguments.queue() > 0) {
            config.sendQueueLimit(arguments.queue(), Long.MAX_VALUE)
                    .receiveQueueLimit(arguments.queue(), Long.MAX_VALUE);
        }
        return config.group(loop)
                .tcpChannels(
                        new ReflectiveChannelFactory<>(transport.channelType()),
                        new ReflectiveChannelFactory<>(transport.serverChannelType()))
                .build();
    }

    private ZMTPSocketType type(boolean binding) {
        return switch (arguments.workload()) {
            case ROUNDTRIP -> binding ? ZMTPSocketType.REP : ZMTPSocketType.REQ;
            case REQREP, PEERS, CONNECTS, OPENLOOP ->
                !binding ? ZMTPSocketType.DEALER : arguments.rep() ? ZMTPSocketType.REP : ZMTPSocketType.ROUTER;
            case PUBSUB, NEWS -> binding ? ZMTPSocketType.PUB : ZMTPSocketType.SUB;
            default -> binding ? ZMTPSocketType.PULL : ZMTPSocketType.PUSH;
        };
    }

    private static ZMTPConfig secure(ZMTPSocketType type, boolean binding) {
        ZMTPConfig.Builder codec = ZMTPConfig.builder().socketType(type);
        if (binding) {
            codec.mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.fromSecretKey(CurveKeys.SERVER_SECRET.toCharArray())))
                    .authenticator(ZMTPAuthenticator.acceptAll());
        } else {
            codec.mechanism(ZMTPCurve.client(
                    ZMTPCurvePublicKey.of(CurveKeys.SERVER_PUBLIC),
                    ZMTPCurveKeyPair.fromSecretKey(CurveKeys.CLIENT_SECRET.toCharArray())));
        }
        return codec.build();
    }
}
