package dev.zmtp.bench;

import dev.zmtp.security.StandaloneContext;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What CURVE costs without a network: a frame in and out of its box, and a handshake of both sides, on one core. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class CurveBenchmark {

    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.generate();
    private static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.generate();
    private static final ZMTPMechanism.Factory SERVERS = ZMTPCurve.server(SERVER);
    private static final ZMTPMechanism.Factory CLIENTS = ZMTPCurve.client(SERVER.publicKey(), CLIENT);

    /** The bytes of a frame. */
    @State(Scope.Thread)
    public static class Frame {
        /** How many. */
        @Param({"100", "1000", "65536"})
        public int length;

        private ZMTPMechanism.FrameCipher sealing;
        private ZMTPMechanism.FrameCipher opening;
        private ByteBuf body;
        private ByteBuf box;

        /** Shakes hands. */
        @Setup
        public void setUp() {
            ZMTPMechanism client = CLIENTS.create(new StandaloneContext("DEALER"));
            ZMTPMechanism server = SERVERS.create(new StandaloneContext("ROUTER"));
            shakeHands(client, server);
            sealing = client.cipher();
            opening = server.cipher();
            body = ByteBufAllocator.DEFAULT.directBuffer(length).writeZero(length);
            box = ByteBufAllocator.DEFAULT.directBuffer(sealing.sealedLength(length));
        }

        /** Releases the buffers. */
        @TearDown
        public void tearDown() {
            body.release();
            box.release();
        }
    }

    private static void shakeHands(ZMTPMechanism client, ZMTPMechanism server) {
        while (!client.isReady()) {
            carry(client, server);
            carry(server, client);
        }
    }

    private static void carry(ZMTPMechanism from, ZMTPMechanism to) {
        for (int i = 0; i < 2; i++) { // the first poll may only compute
            ByteBuf command = from.poll();
            if (command != null) {
                to.receive(command);
                command.release();
            }
        }
    }

    /** A frame into its box and out of it. */
    @Benchmark
    public int sealAndOpen(Frame frame) {
        frame.sealing.seal(0, frame.body, frame.box.clear());
        return frame.opening.open(frame.box);
    }

    /** A handshake, both sides. */
    @Benchmark
    public boolean handshake() {
        ZMTPMechanism client = CLIENTS.create(new StandaloneContext("DEALER"));
        ZMTPMechanism server = SERVERS.create(new StandaloneContext("ROUTER"));
        shakeHands(client, server);
        boolean ready = client.isReady() && server.isReady();
        client.close();
        server.close();
        return ready;
    }
}
