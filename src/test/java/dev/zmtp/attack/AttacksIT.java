package dev.zmtp.attack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server with little memory is attacked for a few seconds, and serves honest peers meanwhile and afterwards. */
@Tag("slow")
@Tag("netty-4.2-only")
@Tag("linux") // /proc, and many addresses of the loopback interface
class AttacksIT {

    private static final Duration DURATION = Duration.ofMillis(700);

    /** The servers live for seconds: they would spend them on compiling, one more than the other. */
    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1");

    @ParameterizedTest
    @EnumSource
    void aServerThatIsAttackedServesHonestPeers(Attack attack)
            throws IOException, InterruptedException, ExecutionException {
        AttackResult result = new AttackRun(Library.NETTY_ZMTP, attack, false, DURATION, OPTIONS).run();

        assertThat(result.faults(AttackResult.Bounds.BUSY_MACHINE))
                .as("%s", result)
                .isEmpty();
    }
}
