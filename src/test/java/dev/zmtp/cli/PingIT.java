package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.PeerContext;
import dev.zmtp.interop.PeerKind;
import dev.zmtp.interop.PeerSocket;
import dev.zmtp.security.ZMTPCurveKeyPair;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code ping} says of libzmq's sockets. */
@Tag("T119")
class PingIT {

    private static int ping(ByteArrayOutputStream output, String... arguments) {
        PrintStream both = new PrintStream(output, true, StandardCharsets.UTF_8);
        return Main.run(new Console(new ByteArrayInputStream(new byte[0]), both, both), arguments);
    }

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"})
    void itsVersionMechanismAndTypeAreNamed(ZMTPSocketType type) {
        try (PeerContext others = PeerKind.LIBZMQ.open()) {
            ByteArrayOutputStream output = new ByteArrayOutputStream();

            int code = ping(
                    output, "ping", "tcp://127.0.0.1:" + others.socket(type).bind());

            assertThat(output.toString(StandardCharsets.UTF_8))
                    .matches("tcp://127\\.0\\.0\\.1:\\d+: ZMTP 3\\.[01], NULL, " + type
                            + "; connect .*, handshake .*\n");
            assertThat(code).isZero();
        }
    }

    @Test
    void aWrongKeyIsNamed() {
        try (PeerContext others = PeerKind.LIBZMQ.open()) {
            PeerSocket rep = others.socket(ZMTPSocketType.REP);
            rep.curveServer(ZMTPCurveKeyPair.generate(), "global");
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            String wrong = ZMTPCurveKeyPair.generate().publicKey().z85();

            int code = ping(output, "ping", "--server-key", wrong, "tcp://127.0.0.1:" + rep.bind());

            assertThat(output.toString(StandardCharsets.UTF_8))
                    .contains("wrong server key, or a key that is not allowed?");
            assertThat(code).isEqualTo(ExitCode.FAILED);
        }
    }
}
