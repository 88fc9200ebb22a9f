package dev.zmtp.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Messages in several frames of WebSocket, as browsers and proxies may send them. */
class FragmentedMessageTest {

    private static final String KEY = "37 fa 21 3d ";
    private static final ZwsProtocol PLAIN = new ZwsProtocol("PLAIN");

    @Test
    void twoFragmentsBecomeAFrameWhereverTheyAreCut() {
        byte[] hello = Hex.bytes("02 83 " + KEY + "37 92 44 / 80 83 " + KEY + "5b 96 4e");
        for (int cut = 0; cut <= hello.length; cut++) {
            try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
                end.receive(hello, cut);

                assertThat(end.zmtp()).as("cut at %d", cut).isEqualTo(Hex.of("00 05 \"hello\""));
            }
        }
    }

    @Test
    void fragmentsCanBeEmptyAndHaveControlFramesBetween() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.receive("82 02 00 61 / 02 00 / 00 00 / 89 00 / 00 02 01 62 / 00 00 / 8a 00 / 80 00 / 82 02 00 63");

            assertThat(end.zmtp()).isEqualTo(Hex.of("00 01 61 / 01 01 62 / 00 01 63"));
            assertThat(end.codec.failures).isEmpty();
        }
    }

    @Test
    void manyFragmentsOfSeveralKeysBecomeALongFrame() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.receive("02 81 " + KEY + "35");
            for (int i = 0; i < 1000; i++) {
                end.receive("00 83 00 00 00 01 78 78 78"); // the key masks none of three bytes
            }
            end.receive("80 84 00 00 00 01 78 78 78 79");

            assertThat(end.zmtp()).isEqualTo(Hex.of("06 00*6 0b bc 78*3004"));
        }
    }

    @Test
    void aCommandCanBeFragmented() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT, new ZwsProtocol("NULL"))) {
            end.receive("02 01 02 / 80 06 05 \"READY\"");

            assertThat(end.zmtp()).isEqualTo(Hex.of("04 06 05 \"READY\""));
        }
    }

    @Test
    void collectedBytesCountForTheMemoryBudgetUntilTheMessageIsComplete() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 20);
        try (TranslatedChannel end = TranslatedChannel.open(
                WebSocketRole.CLIENT,
                PLAIN,
                config -> config.memoryBudget(budget).maxHandshakeCommandLength(1 << 20))) {
            end.receive("02 7f 00*5 01 00 00 00 78*50000"); // 65,536 bytes are announced
            assertThat(budget.used()).isBetween(50_000L, 100_100L);

            end.receive("78*15535 / 00 7e c3 50 78*50000");
            assertThat(budget.used()).isBetween(115_536L, 231_100L);

            end.receive("80 00");
            assertThat(budget.used()).isZero();
            assertThat(end.zmtp()).hasSize(2 * (9 + 115_535));
        }
    }

    @Test
    void collectedBytesDoNotCountOnceTheConnectionIsOver() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 20);
        try (TranslatedChannel end = TranslatedChannel.open(
                WebSocketRole.CLIENT,
                PLAIN,
                config -> config.memoryBudget(budget).maxHandshakeCommandLength(1 << 20))) {
            end.receive("02 7f 00*5 01 00 00 00 78*50000");
            end.channel.pipeline().fireChannelInactive();

            assertThat(budget.used()).isZero();
        }
    }

    @Test
    void aConnectionEndsThatExceedsTheBudget() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(100_000);
        Function<WebSocketRole, TranslatedChannel> open = role -> TranslatedChannel.open(
                role, PLAIN, config -> config.memoryBudget(budget).maxHandshakeCommandLength(1 << 20));
        try (TranslatedChannel one = open.apply(WebSocketRole.CLIENT);
                TranslatedChannel other = open.apply(WebSocketRole.CLIENT)) {
            List<TranslatedChannel> both = List.of(one, other);
            both.forEach(end -> end.receive("02 7e c3 50 00 78*30000"));
            both.forEach(end -> end.receive("78*19000"));
            both.forEach(end -> end.channel.runPendingTasks());

            assertThat(both.stream().flatMap(end -> end.codec.failures.stream()))
                    .isNotEmpty()
                    .allSatisfy(failure ->
                            assertThat(((ZMTPException) failure).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET));
            assertThat(both.stream().filter(end -> !end.channel.isOpen()).map(TranslatedChannel::received))
                    .isNotEmpty()
                    .containsOnly(Hex.of("88 82 " + KEY + "34 0b"));
            assertThat(budget.used()).isLessThan(100_000);
        }
    }

    @Test
    void anAnnouncedLengthTakesNoMemory() {
        for (String header :
                List.of("82 7f 00*4 04 00 00 01 00", "02 7f 00*4 04 00 00 00", "02 00 80 7f 00*4 04 00 00 00")) {
            FullAllocator allocator = new FullAllocator();
            try (TranslatedChannel end = TranslatedChannel.openWith(allocator, WebSocketRole.CLIENT)) {
                allocator.full = true;
                end.channel.writeInbound(Unpooled.wrappedBuffer(Hex.bytes(header)));
                allocator.full = false;

                assertThat(end.codec.failures).isEmpty();
                assertThat(end.zmtp()).isEqualTo(header.startsWith("82") ? Hex.of("02 00*4 04 00 00 00") : "");
            }
        }
    }

    @Test
    void anAllocatorWithoutMemoryEndsTheConnection() {
        FullAllocator allocator = new FullAllocator();
        try (TranslatedChannel end = TranslatedChannel.openWith(allocator, WebSocketRole.CLIENT)) {
            allocator.full = true;
            end.channel.writeInbound(Unpooled.wrappedBuffer(Hex.bytes("02 02 00 61")));
            allocator.full = false;

            assertThat(end.codec.failures).isNotEmpty();
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void anEndInTheMiddleIsAFailure() {
        Stream.of(
                        "02 03 00 61 62 / fragmented message: 2 bytes (expected: more)",
                        "82 / WebSocket frame",
                        "82 02 / WebSocket frame",
                        "89 02 61 / WebSocket frame")
                .forEach(row -> {
                    int slash = row.indexOf('/');
                    try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
                        end.receive(row.substring(0, slash));
                        end.channel.pipeline().fireChannelInactive();

                        assertThat(end.codec.failures)
                                .singleElement()
                                .isInstanceOfSatisfying(ZMTPException.class, failure -> {
                                    assertThat(failure.code()).isEqualTo(ZMTPException.Code.CLOSED);
                                    assertThat(failure)
                                            .hasMessageEndingWith("in the middle of a " + row.substring(slash + 2));
                                });
                    }
                });
    }
}
