package dev.zmtp.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A network between two sockets over TCP on this machine, which the test breaks. */
public final class Forwarder implements AutoCloseable {

    private static final int BUFFER = 16 * 1024;

    private final int target;
    private final ServerSocket listener = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
    private final AtomicInteger cuts = new AtomicInteger();
    private volatile boolean swallows;
    private volatile Duration delay = Duration.ZERO;

    /** Forwards to this endpoint over TCP. */
    public Forwarder(String endpoint) throws IOException {
        target = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        start(this::accept);
    }

    public String endpoint() {
        return "tcp://127.0.0.1:" + listener.getLocalPort();
    }

    /** Ends all connections after so many more bytes, counted together in both directions. */
    public void cutAfter(long bytes) {
        left.set(bytes);
    }

    /** How often it has cut. */
    public int cuts() {
        return cuts.get();
    }

    /** From now on each read arrives so much later, as over a long line. */
    public void delay(Duration oneWay) {
        delay = oneWay;
    }

    /** From now on bytes vanish, and ends of connections too; or they do not any more. */
    public void swallow(boolean on) {
        swallows = on;
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "forwarder");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                join(listener.accept());
            }
        } catch (IOException e) {
            closeAll(); // it is closed
        }
    }

    private void join(Socket client) {
        open.add(client);
        Socket server = new Socket();
        open.add(server);
        try {
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
            server.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
            start(() -> forward(client, server));
            start(() -> forward(server, client));
        } catch (IOException e) {
            close(client);
            close(server);
        }
    }

    private void forward(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                if (swallows) {
                    continue;
                }
                Thread.sleep(delay.toMillis());
                long before = left.getAndAdd(-read);
                out.write(buffer, 0, (int) Math.min(read, Math.max(before, 0)));
                if (before <= read) {
                    cut(before);
                    return;
                }
            }
        } catch (IOException | InterruptedException e) {
            // one side has ended
        } finally {
            close(from);
            if (!swallows) {
                close(to);
            }
        }
    }

    private void cut(long before) {
        if (before > 0) {
            left.set(Long.MAX_VALUE);
            cuts.incrementAndGet();
            closeAll();
        }
    }

    private void closeAll() {
        open.forEach(this::close);
    }

    private void close(Socket socket) {
        open.remove(socket);
        try {
            socket.close();
        } catch (IOException e) {
            // it is closed
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeAll();
    }
}
