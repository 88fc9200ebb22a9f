package dev.zmtp.compare.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeerMainTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | peer: none (expected: netty-zmtp, netty-zmtp sockets, raw-netty, least-handlers, netty4-zmtp, jeromq, aeron or raw-ring)",
                "zmq4 | peer: zmq4 (expected: netty-zmtp, netty-zmtp sockets, raw-netty, least-handlers, netty4-zmtp, jeromq, aeron or raw-ring)",
                "jeromq | role: none (expected: receive, send, answer, ask, publish, subscribe, pair)",
                "jeromq bind | role: bind (expected: receive, send, answer, ask, publish, subscribe, pair)",
                "jeromq ask workload=chat | workload: chat (expected: oneway, connections, pubsub, news, proxy, idle,"
                        + " reqrep, peers, connects, custom, roundtrip, openloop, latency)",
                "jeromq receive workload=proxy size=1 | role: receive (expected: pair in this workload)",
                "jeromq publish workload=news size=8 | rate: none (expected: 1 to 1000000000)",
                "jeromq publish workload=news size=7 rate=1 | size: 7 (expected: 8 to 67108864)",
                "jeromq publish workload=pubsub size=1 mute=1 | mute: 1 (expected: 0 to 0)",
                "jeromq ask workload=oneway | role: ask (expected: send, receive or pair in this workload)",
                "jeromq send workload=reqrep | role: send (expected: ask, answer or pair in this workload)",
                "jeromq receive workload=oneway | size: none (expected: 1 to 67108864)",
                "jeromq receive workload=oneway size=0 | size: 0 (expected: 1 to 67108864)",
                "jeromq receive workload=oneway size=big | size: big (expected: 1 to 67108864)",
                "jeromq receive workload=oneway size=1 size=2 | argument: size=2 (expected: each key once)",
                "jeromq receive workload=oneway size | argument: size (expected: key=value)",
                "jeromq send workload=oneway size=1 | port: none (expected: 0 to 65535)",
                "jeromq receive workload=oneway size=1 transport=nio | transport: nio (expected: none for JeroMQ)",
                "jeromq receive workload=oneway size=1 polling=lazy | polling: lazy (expected: block, busy)",
                "jeromq receive workload=oneway size=1 connections=2 | connections: 2 (expected: 1 in this workload)",
                "jeromq answer workload=openloop | every: none (expected: 1 to 1000000000)",
                "jeromq ask workload=openloop port=1 | rate: none (expected: 1 to 1000000000)",
                "jeromq answer workload=roundtrip ping=4 | pong: none (expected: 1 to 67108864)",
                "jeromq receive workload=oneway size=1 hwm=5 | key: hwm (expected: workload, transport, polling, security, medium, style, received, view, loops,"
                        + " service, queue, mute, full, port, size, ping, pong, outstanding, connections, rate, every or flush)",
                "jeromq send workload=pubsub | role: send (expected: subscribe, publish or pair in this workload)",
                "jeromq publish workload=pubsub | size: none (expected: 1 to 67108864)",
                "jeromq receive workload=oneway size=1 medium=inproc | medium: inproc (expected: another one but for a"
                        + " pair)",
                "jeromq receive workload=oneway size=1 view=side | view: side (expected: handler, hand, thread, futures,"
                        + " blocking, request, virtual)",
                "raw-netty send workload=oneway size=1 port=1 flush=0 | flush: 0 (expected: 1 to 1000000000)",
            })
    void aWrongArgumentIsReportedWithWhatWasExpected(String args, String reason) {
        int code = run(args);
        assertThat(code).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.US_ASCII).lines())
                .containsExactly("peer: " + reason, "usage: PeerMain <peer> <role> key=value...");
        assertThat(out.size()).isZero();
    }

    @Test
    void whatALibraryDoesNotSupportIsNotAnError() {
        int code = run("jeromq receive workload=oneway size=1 polling=busy");
        assertThat(code).isZero();
        assertThat(out.toString(StandardCharsets.US_ASCII).lines())
                .containsExactly("unsupported=its I/O thread always blocks");
    }

    @Test
    @Tag("netty-4.2-only")
    void aCodecPublishesNothing() {
        int code = run("netty-zmtp publish workload=pubsub size=1");
        assertThat(code).isZero();
        assertThat(out.toString(StandardCharsets.US_ASCII).lines())
                .containsExactly("unsupported=a codec has no subscriptions, and no peers to choose from");
    }

    private int run(String args) {
        return PeerMain.run(
                args.isEmpty() ? List.of() : List.of(args.split(" ")),
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.US_ASCII),
                new PrintStream(err, true, StandardCharsets.US_ASCII));
    }
}
