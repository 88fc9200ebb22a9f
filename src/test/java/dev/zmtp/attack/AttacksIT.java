package dev.zmtp.attack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A server with little memory is attacked for a few seconds, and serves honest peers meanwhile and afterwards. The
 * attacks on one kind of server follow each other, as two processes take longer to start than many an attack.
 */
@Tag("slow")
@Tag("netty-4.2-only")
@Tag("linux") // /proc, and many addresses of the loopback interface
class AttacksIT {

    private static final Duration DURATION = Duration.ofMillis(500);

    /** Of the second try: long beside the beginning of an attack, which takes all of a short one on a busy machine. */
    private static final Duration LONGER = DURATION.multipliedBy(7);

    /** The servers live for seconds: they would spend them on compiling, one more than the other. */
    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1");

    /** What sockets do not handle themselves, but the codec below them, is attacked without sockets only. */
    private static final Set<Attack> OF_THE_CODEC = Set.of(
            Attack.UNFINISHED_MESSAGES,
            Attack.LONG_TOPICS,
            Attack.EMPTY_MESSAGES,
            Attack.IDLE,
            Attack.CUTS,
            Attack.STORM);

    private static @Nullable ServerAndTwin running;

    static Stream<Arguments> attacks() {
        return Arrays.stream(Service.values())
                .flatMap(service -> Arrays.stream(Attack.values())
                        .filter(attack -> attack.services().contains(service) && isRun(attack, service))
                        .map(attack -> Arguments.of(service, attack)));
    }

    private static boolean isRun(Attack attack, Service service) {
        return !service.isSocket() || !OF_THE_CODEC.contains(attack);
    }

    /** Returns a server of this kind, after the one before has ended if that is another. */
    private static ServerAndTwin running(Service service) throws IOException, InterruptedException {
        if (running == null || running.service() != service) {
            stop();
            running = new ServerAndTwin(Library.NETTY_ZMTP, service, OPTIONS);
        }
        return running;
    }

    @AfterAll
    static void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    @ParameterizedTest
    @MethodSource("attacks")
    void aServerThatIsAttackedServesHonestPeers(Service service, Attack attack)
            throws IOException, InterruptedException, ExecutionException {
        AttackResult result = new AttackRun(running(service), attack, false, DURATION).run();
        if (!result.faults(AttackResult.Bounds.BUSY_MACHINE).isEmpty()) {
            // The server has compiled, and the attackers' queues have filled. What the attack leaves is there again.
            result = new AttackRun(running(service), attack, false, LONGER).run();
        }

        List<String> faults = result.faults(AttackResult.Bounds.BUSY_MACHINE);
        if (!faults.isEmpty()) {
            stop(); // the next attack would suffer from this one
        }
        assertThat(faults).as("%s", result).isEmpty();
    }
}
