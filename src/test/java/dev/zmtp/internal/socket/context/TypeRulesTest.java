package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which type may send what, and what becomes of a message that finds no room. */
class TypeRulesTest {

    private static boolean maySend(ZMTPSocketType type, String... frames) {
        ZMTPMessage message = ZMTPMessage.from(Stream.of(frames)
                .map(frame -> Unpooled.copiedBuffer(frame, StandardCharsets.UTF_8))
                .toList());
        try {
            return TypeRules.maySend(type, message);
        } finally {
            message.release();
        }
    }

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    /** A proxy asks this before it takes a message. */
    @ParameterizedTest
    @CsvSource({
        "PUSH, 12345",
        "DEALER, 12345",
        "ROUTER, 12345",
        "REP, 12345",
        "PUB, 12345",
        "XSUB, 12345",
        "SCATTER, 1",
        "CLIENT, 1",
        "CHANNEL, 1",
        "SERVER, 12",
        "PEER, 12",
        "RADIO, 2",
        "PULL, ''",
        "GATHER, ''",
        "SUB, ''",
        "DISH, ''"
    })
    void aTypeSendsMessagesOfSoManyFrames(ZMTPSocketType type, String numbers) {
        String taken = IntStream.rangeClosed(0, 5)
                .filter(frames -> maySend(type, Collections.nCopies(frames, "x").toArray(new String[0])))
                .collect(StringBuilder::new, StringBuilder::append, StringBuilder::append)
                .toString();

        assertThat(taken).isEqualTo(numbers);
    }

    @ParameterizedTest
    @EnumSource(ZMTPSocketType.class)
    void aTypeThatDoesNotReceiveSends(ZMTPSocketType type) {
        boolean onlySends = switch (type) {
            case PUSH, SCATTER, PUB, RADIO -> true;
            default -> false;
        };

        assertThat(TypeRules.receives(type)).isEqualTo(!onlySends);
        assertThat(TypeRules.sends(type) || TypeRules.receives(type)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XPUB", "RADIO", "XSUB"})
    void aTypeThatSendsToAllDropsWhatOneHasNoRoomFor(ZMTPSocketType type) {
        assertThat(TypeRules.overflowPolicy(type)).isEqualTo(OverflowPolicy.DROP_NEW);
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"PUB", "XPUB", "RADIO", "XSUB"})
    void eachOtherTypeWaitsForRoom(ZMTPSocketType type) {
        assertThat(TypeRules.overflowPolicy(type)).isEqualTo(OverflowPolicy.WAIT);
    }

    /** It is off, then. */
    @Test
    void aHeartbeatWithoutATimeoutFitsAnyInterval() {
        ZMTPConfig codec = heartbeats(Duration.ZERO);

        assertThatCode(() -> TypeRules.checkHeartbeats(codec)).doesNotThrowAnyException();
    }

    @Test
    void theTimeoutOfAHeartbeatMayBeALittleMoreThanItsInterval() {
        ZMTPConfig codec = heartbeats(INTERVAL.plusMillis(1));

        assertThatCode(() -> TypeRules.checkHeartbeats(codec)).doesNotThrowAnyException();
    }

    /** The peer would wait for the next PING in vain. A TTL is rounded down to a tenth of a second. */
    @ParameterizedTest
    @ValueSource(ints = {0, 50, 99})
    void theTtlOfAHeartbeatMustBeMoreThanItsInterval(int moreMillis) {
        Duration ttl = INTERVAL.plusMillis(moreMillis);
        ZMTPConfig codec =
                heartbeats(INTERVAL.plusMillis(1)).toBuilder().heartbeatTtl(ttl).build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> TypeRules.checkHeartbeats(codec))
                .withMessageStartingWith("heartbeatTtl: %s (expected: more than the interval, %s", ttl, INTERVAL);
    }

    @Test
    void withoutHeartbeatsThereIsNothingToCheck() {
        ZMTPConfig codec =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();

        assertThatCode(() -> TypeRules.checkHeartbeats(codec)).doesNotThrowAnyException();
    }

    @Test
    void anXsubSendsNothingThatAPublisherTakesForASubscription() {
        assertThat(maySend(ZMTPSocketType.XSUB, "\1a")).isFalse();
        assertThat(maySend(ZMTPSocketType.XSUB, "\0", "b")).isFalse();
        assertThat(maySend(ZMTPSocketType.XSUB, "\2")).isTrue();
        assertThat(maySend(ZMTPSocketType.XSUB, "", "\1")).isTrue();
        assertThat(maySend(ZMTPSocketType.XPUB, "\1a")).isTrue();
    }

    @Test
    void aRadioSendsNoGroupThatADishCannotJoin() {
        assertThat(maySend(ZMTPSocketType.RADIO, "g", "body")).isTrue();
        assertThat(maySend(ZMTPSocketType.RADIO, "g".repeat(255), "body")).isTrue();
        assertThat(maySend(ZMTPSocketType.RADIO, "g".repeat(256), "body")).isFalse();
        assertThat(maySend(ZMTPSocketType.RADIO, "g\0h", "body")).isFalse();
    }

    private static ZMTPConfig heartbeats(Duration timeout) {
        return TypeRules.codec(ZMTPSocketType.DEALER).toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(timeout)
                .build();
    }
}
