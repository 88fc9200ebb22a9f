package dev.zmtp.cli;

import dev.zmtp.internal.transport.TcpTransport;
import dev.zmtp.internal.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Forwards TCP connections to an endpoint, and prints the frames of both directions. No byte is changed. Each direction
 * of a connection has a thread, which reads the next bytes after the last are printed and written.
 */
final class TcpRelay {

    private static final String SCHEME = "tcp://";
    private static final Transport TCP = new TcpTransport(NioSocketChannel::new, NioServerSocketChannel::new);
    private static final int READ = 1 << 16;
    private static final int MAX_CONNECTIONS = 1_000;

    /** Pause after a connection that could not be accepted. */
    private static final long PAUSE_MILLIS = 100;

    private final Console console;
    private final MessageFormat format;
    private final Transport.Address bound;
    private final String target;
    private final Transport.Address to;
    private final long start = System.nanoTime();
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final Thread main = Thread.currentThread();
    private volatile @Nullable RuntimeException outputFailure;

    TcpRelay(Console console, MessageFormat format, String bind, String target) {
        this.console = console;
        this.format = format;
        this.bound = address(EndpointArguments.toBind(bind), true);
        this.target = EndpointArguments.toConnect(target);
        this.to = address(this.target, false);
    }

    private static Transport.Address address(String endpoint, boolean bind) {
        if (!endpoint.startsWith(SCHEME)) {
            throw new CliException(ExitCode.USAGE, "endpoint: " + endpoint + " (expected: tcp://HOST:PORT)");
        }
        try {
            return TCP.address(endpoint.substring(SCHEME.length()), bind);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Main.text(e));
        }
    }

    /** Forwards connections until this thread is interrupted or the output fails. */
    void run() throws InterruptedException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(bound.resolve().get(0));
            console.complain("bound to " + SCHEME + bound.boundTo(server.getLocalAddress()));
            for (int number = 1; ; number++) {
                accept(server, number);
            }
        } catch (ClosedByInterruptException | InterruptedException e) {
            RuntimeException failure = outputFailure;
            if (failure != null) {
                throw failure;
            }
            throw new InterruptedException();
        } catch (IOException e) {
            throw CliException.failed(SCHEME + bound + ": " + Main.text(e));
        } finally {
            open.forEach(TcpRelay::close);
        }
    }

    private void accept(ServerSocketChannel server, int number)
            throws ClosedByInterruptException, InterruptedException {
        try {
            SocketChannel client = server.accept();
            if (connections.get() >= MAX_CONNECTIONS) {
                console.complain("connection " + number + ": refused (expected: at most " + MAX_CONNECTIONS + ")");
                close(client);
                return;
            }
            Connection connection = new Connection(number, client);
            connections.incrementAndGet();
            start(connection::forward, "connection " + number);
        } catch (ClosedByInterruptException e) {
            throw e;
        } catch (IOException e) { // the process can have too many open files, for now
            console.complain("connection " + number + ": " + Main.text(e));
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    private void start(Runnable work, String name) {
        Thread thread = new Thread(() -> stopAtFailedOutput(work), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void stopAtFailedOutput(Runnable work) {
        try {
            work.run();
        } catch (Console.ClosedOutputException | CliException e) {
            outputFailure = e;
            main.interrupt();
        }
    }

    private SocketChannel connect() throws IOException {
        IOException last = new IOException("no address");
        for (SocketAddress address : to.resolve()) {
            SocketChannel channel = SocketChannel.open();
            try {
                channel.bind(to.source());
                channel.connect(address);
                return channel;
            } catch (IOException e) {
                close(channel);
                last = e;
            }
        }
        throw last;
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // it is of no use any more
        }
    }

    /** A connection that was accepted, and its continuation to the target. */
    private final class Connection {
        private final int number;
        private final SocketChannel client;
        private final WireText toServer = new WireText(format, line -> print("> " + line));
        private final WireText toClient = new WireText(format, line -> print("< " + line));

        Connection(int number, SocketChannel client) {
            this.number = number;
            this.client = client;
            open.add(client);
            WireText.pair(toServer, toClient);
        }

        private void print(String text) {
            double seconds = (System.nanoTime() - start) / 1e9;
            console.printLine(String.format(Locale.ROOT, "%.6f #%d %s", seconds, number, text));
        }

        void forward() {
            try (client;
                    SocketChannel server = connect()) {
                open.add(server);
                print("up: " + client.getRemoteAddress().toString().replaceFirst("^/", ""));
                CountDownLatch answered = new CountDownLatch(1);
                start(
                        () -> {
                            try {
                                pump(server, client, toClient);
                            } finally {
                                answered.countDown();
                            }
                        },
                        "answers of connection " + number);
                pump(client, server, toServer);
                answered.await();
                print("down");
            } catch (IOException e) {
                console.complain("connection " + number + ": " + target + ": " + Main.text(e));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                open.removeIf(channel -> !channel.isOpen()); // both of this connection
                connections.decrementAndGet();
            }
        }

        /** Forwards the bytes of one direction until its end. */
        private void pump(SocketChannel from, SocketChannel to, WireText text) {
            ByteBuffer buffer = ByteBuffer.allocate(READ);
            try {
                from.setOption(StandardSocketOptions.TCP_NODELAY, true);
                while (from.read(buffer.clear()) >= 0) {
                    buffer.flip();
                    synchronized (this) {
                        text.read(Unpooled.wrappedBuffer(buffer));
                    }
                    while (buffer.hasRemaining()) {
                        to.write(buffer);
                    }
                }
                to.shutdownOutput();
            } catch (IOException e) {
                close(from);
                close(to);
            }
        }
    }
}
