package dev.zmtp.internal.socket;

import dev.zmtp.internal.socket.context.WaitingStress;
import dev.zmtp.internal.socket.endpoint.ConnectStress;
import dev.zmtp.internal.socket.receive.InboxStress;
import dev.zmtp.internal.socket.send.CreditStress;
import dev.zmtp.internal.socket.send.SendersStress;
import dev.zmtp.internal.socket.send.WritabilityStress;
import dev.zmtp.testing.StressRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class SocketStressIT {

    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void whatThreadsHandOverIsNeitherLostNorLeft() throws IOException, InterruptedException {
        StressRun.check(
                directory,
                List.of(
                        ConnectStress.class,
                        CreditStress.class,
                        InboxStress.class,
                        WritabilityStress.class,
                        SendersStress.class,
                        WaitingStress.class),
                "-m", // half a minute in all; "quick" takes two and a half
                "sanity",
                "-time",
                "150",
                "-iters",
                "1",
                "-jvmArgs", // one way to compile in place of all: a case takes a second or two
                "-XX:+UseSerialGC");
    }
}
