package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that answers as a peer does and moves no messages: each mark is a second and a thousand messages further.
 * Its first argument says how it misbehaves.
 */
final class FakePeer {

    private static final long SECOND = 1_000_000_000;

    private FakePeer() {}

    /** Runs the program. */
    public static void main(String... args) throws IOException {
        String manner = args[0];
        String role = args[1];
        if (manner.equals("tidy")) {
            Path file = Path.of(args[2]);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> file.toFile().delete()));
        }
        switch (manner) {
            case "mute" -> System.in.transferTo(System.err);
            case "unsupported" -> say("unsupported=it is a fake");
            case "dying" -> {
                System.err.println("java.lang.IllegalStateException: no more");
                System.err.println("\tat somewhere");
                System.exit(1);
            }
            default -> {
                if (List.of("receive", "answer", "publish").contains(role)) {
                    say("port=5");
                } else {
                    say("ready");
                }
                converse(manner);
            }
        }
    }

    /** The peer of this manner, as the comparison starts it. */
    static ComparedPeer peer(String manner) throws Exception {
        Path classes = Path.of(FakePeer.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        List<String> command = new ArrayList<>(
                List.of(java.toString(), "-Xshare:auto", "-cp", classes.toString(), FakePeer.class.getName(), manner));
        return new ComparedPeer(manner, "fake", "nio", command, List.of(), "");
    }

    private static void converse(String manner) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        long marks = 0;
        boolean restarted = false;
        int perMark = manner.equals("slow") ? 500 : 1000;
        AtomicLong steps = new AtomicLong();
        if (manner.equals("busy")) {
            Thread thread = new Thread(() -> {
                while (true) {
                    steps.incrementAndGet();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            switch (line) {
                case "mark" -> {
                    marks++;
                    if (manner.equals("mortal") && marks == 3) {
                        System.exit(3);
                    }
                    long messages = manner.equals("busy") ? steps.get() : marks * perMark;
                    say(
                            manner.equals("garbled")
                                    ? "mark nanos=much messages=1"
                                    : "mark nanos=" + marks * SECOND + " messages=" + messages + " cpu="
                                            + marks * SECOND / 2 + " allocated=" + marks * 16_000
                                            + " rss=1048576 resident=" + marks * 7000 + " heap="
                                            + marks * 5000 + " late=" + marks * 10);
                }
                case "restart" -> restarted = true;
                // Half of them are of a microsecond only where the schedule was restarted.
                case "latencies" -> say("latencies 1000:50,2000:49,9000:" + (restarted ? 1 : 2));
                default -> throw new IOException("command: \"" + line + "\"");
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
