package dev.zmtp.compare.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** The program: {@code PeerMain <peer> <role> key=value...}, as the package's documentation says. */
public final class PeerMain {

    private PeerMain() {}

    /** Runs one end, or both, until the input ends. */
    public static void main(String... args) {
        List<String> all = Arrays.asList(args);
        if (!all.contains("style=defaults")) {
            System.setProperty("io.netty.leakDetectionLevel", "disabled"); // read by Netty when it is loaded, later
        }
        System.exit(run(all, System.in, System.out, System.err));
    }

    /** As the program, but returns the exit code. */
    static int run(List<String> args, InputStream in, PrintStream out, PrintStream err) {
        try {
            if (args.isEmpty()) {
                throw new UsageException("peer: none (expected: " + PEERS + ")");
            }
            PeerProgram peer = peer(args.get(0));
            Program program = new Program(Arguments.parse(args.subList(1, args.size())), out, err);
            peer.start(program);
            obey(program, in);
            return 0;
        } catch (UsageException e) {
            err.println("peer: " + e.getMessage());
            err.println("usage: PeerMain <peer> <role> key=value...");
            return 2;
        } catch (UnsupportedException e) {
            out.println("unsupported=" + e.getMessage());
            out.flush();
            return 0;
        } catch (Exception e) {
            err.println("peer: " + e);
            return 1;
        }
    }

    private static final String PEERS =
            "netty-zmtp, netty-zmtp sockets, raw-netty, least-handlers, netty4-zmtp, jeromq, aeron or raw-ring";

    /** Each library is loaded only here: not all are on the class path of each program. */
    private static PeerProgram peer(String name) throws UsageException {
        return switch (name) {
            case "netty-zmtp" -> program -> NettyZmtp.start(program);
            case "netty-zmtp sockets" -> program -> ZmtpSockets.start(program);
            case "raw-netty" -> program -> RawNetty.start(program);
            case "least-handlers" -> program -> LeastHandlers.start(program);
            case "netty4-zmtp" -> program -> Netty4Zmtp.start(program);
            case "jeromq" -> program -> JeroMq.start(program);
            case "aeron" -> program -> AeronIpc.start(program);
            case "raw-ring" -> program -> RawRing.start(program);
            default -> throw new UsageException("peer: " + name + " (expected: " + PEERS + ")");
        };
    }

    private static void obey(Program program, InputStream in) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null && !line.equals("exit"); line = lines.readLine()) {
            switch (line) {
                case "mark" -> program.say(program.marks().mark());
                case "latencies" ->
                    program.say("latencies " + program.latencies().take());
                case "restart" -> program.schedule().restart();
                default -> throw new IOException("command: " + line + " (expected: mark, latencies, restart or exit)");
            }
        }
    }
}
