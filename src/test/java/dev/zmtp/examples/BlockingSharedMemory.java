package dev.zmtp.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryServerSocket;
import dev.zmtp.shm.SharedMemorySocket;
import java.io.BufferedReader;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;

/** Two programs without event loops, with memory that both have mapped between them: lines there, and back. */
public final class BlockingSharedMemory {

    private static final String EXAMPLE =
            "mvn -q test-compile exec:java@example -Dexample=BlockingSharedMemory -Dexec.args=";

    private BlockingSharedMemory() {}

    /** With "serve" and a path: serves until it is killed. With "ask" and a path: sends a line, and prints the answer. */
    public static void main(String... args) throws IOException {
        if (args.length != 2 || !List.of("serve", "ask").contains(args[0])) {
            System.err.println("usage: " + EXAMPLE + "\"serve PATH\", or \"ask PATH\"");
            return;
        }
        SharedMemoryAddress address = new SharedMemoryAddress(args[1]);
        if (args[0].equals("serve")) {
            System.out.println("echoes lines at " + args[1] + ". Try: " + EXAMPLE + "\"ask " + args[1] + "\"");
            try (SharedMemoryServerSocket server = SharedMemoryServerSocket.bind(address)) {
                serve(server);
            }
        } else {
            System.out.println(ask(address, "hello"));
        }
    }

    /** Serves each client with a thread, until the server is closed. */
    static void serve(SharedMemoryServerSocket server) throws IOException {
        try {
            while (true) {
                SharedMemorySocket client = server.accept();
                Thread thread = new Thread(() -> echo(client), "client");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (ClosedChannelException e) {
            // the server is closed
        }
    }

    private static void echo(SharedMemorySocket client) {
        try (client) {
            client.inputStream().transferTo(new Flushing(client.outputStream()));
        } catch (IOException e) {
            System.err.println("a client has gone: " + e.getMessage());
        }
    }

    /** Sends a line, and returns that which comes back. */
    static String ask(SharedMemoryAddress address, String line) throws IOException {
        try (SharedMemorySocket socket = SharedMemorySocket.connect(address, Duration.ofSeconds(5))) {
            socket.readTimeout(Duration.ofSeconds(5));
            socket.outputStream().write((line + "\n").getBytes(UTF_8));
            socket.outputStream().flush(); // now the other side sees it
            return new BufferedReader(new InputStreamReader(socket.inputStream(), UTF_8)).readLine();
        }
    }

    /** What is written leaves at once. */
    private static final class Flushing extends FilterOutputStream {

        Flushing(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            out.flush();
        }
    }
}
