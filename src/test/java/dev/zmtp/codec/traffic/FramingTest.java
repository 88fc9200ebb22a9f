package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Frames become messages and messages become frames, in every version and however the bytes are split. */
class FramingTest {

    /** Version, bytes, and the frames of the message in them. */
    static List<Arguments> inbound() {
        return List.of(
                Arguments.of(ZMTP10, "02 00 61", "61"),
                Arguments.of(ZMTP10, "01 00", "-"),
                Arguments.of(ZMTP10, "02 01 61 01 01 03 00 62 63", "61 - 6263"),
                Arguments.of(ZMTP10, "fe 00 61*253", "61*253"),
                Arguments.of(ZMTP10, "ff 00*7 ff 00 61*254", "61*254"),
                Arguments.of(ZMTP10, "ff 00*7 02 00 61", "61"),
                Arguments.of(ZMTP10, "ff 00*7 02 01 61 02 00 62", "61 62"),
                Arguments.of(ZMTP10, "02 fe 61", "61"),
                Arguments.of(ZMTP20, "00 01 61", "61"),
                Arguments.of(ZMTP20, "01 01 61 00 00", "61 -"),
                Arguments.of(ZMTP20, "02 00*6 01 00 61*256", "61*256"),
                Arguments.of(ZMTP30, "00 ff 61*255", "61*255"),
                Arguments.of(ZMTP30, "03 00*7 01 61 00 01 62", "61 62"),
                Arguments.of(ZMTP31, "00 00", "-"),
                Arguments.of(ZMTP31, "01 00 01 00 00 00", "- - -"),
                Arguments.of(ZMTP31, "02 00*8", "-"),
                Arguments.of(ZMTP31, "02 00*7 01 61", "61"),
                Arguments.of(ZMTP31, "02 00*6 01 00 61*256", "61*256"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("inbound")
    void framesOfEachFormBecomeOneMessage(ZMTPVersion version, String bytes, String frames) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            peer.send(bytes);
            assertThat(peer.messages).containsExactly("message " + spell(frames));
            assertThat(peer.failures).isEmpty();
        }
    }

    private static String spell(String frames) {
        return Arrays.stream(frames.split(" "))
                .map(frame -> frame.equals("-") ? "-" : Hex.of(frame))
                .reduce((left, right) -> left + " " + right)
                .orElseThrow();
    }

    /** Version, length of the only frame's body, and its header. */
    static List<Arguments> outbound() {
        return List.of(
                Arguments.of(ZMTP10, 0, "01 00"),
                Arguments.of(ZMTP10, 253, "fe 00"),
                Arguments.of(ZMTP10, 254, "ff 00*7 ff 00"),
                Arguments.of(ZMTP10, 5000, "ff 00*6 13 89 00"),
                Arguments.of(ZMTP20, 0, "00 00"),
                Arguments.of(ZMTP20, 255, "00 ff"),
                Arguments.of(ZMTP20, 256, "02 00*6 01 00"),
                Arguments.of(ZMTP30, 255, "00 ff"),
                Arguments.of(ZMTP30, 5000, "02 00*6 13 88"),
                Arguments.of(ZMTP31, 0, "00 00"),
                Arguments.of(ZMTP31, 1, "00 01"),
                Arguments.of(ZMTP31, 255, "00 ff"),
                Arguments.of(ZMTP31, 256, "02 00*6 01 00"),
                Arguments.of(ZMTP31, 4096, "02 00*6 10 00"),
                Arguments.of(ZMTP31, 4097, "02 00*6 10 01"),
                Arguments.of(ZMTP31, 100_000, "02 00*5 01 86 a0"));
    }

    @ParameterizedTest(name = "{0}: {1} bytes")
    @MethodSource("outbound")
    void eachLengthGetsTheShortestHeader(ZMTPVersion version, int length, String header) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(length)));
            assertThat(peer.received()).isEqualTo(Hex.of(header + " 78*" + length));
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "ZMTP10, 02 01 61 / ff 00*7 ff 01 62*254 / 01 00",
        "ZMTP20, 01 01 61 / 01 fe 62*254 / 00 00",
        "ZMTP31, 01 01 61 / 01 fe 62*254 / 00 00"
    })
    void everyFrameButTheLastHasTheMoreFlag(ZMTPVersion version, String bytes) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a", "b".repeat(254), ""));
            assertThat(peer.received()).isEqualTo(Hex.of(bytes));
        }
    }

    @Test
    void largeFramesBeforeTheLastHaveTheMoreFlagToo() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a".repeat(5000), "b".repeat(5000), "c"));
            assertThat(peer.received()).isEqualTo(Hex.of("03 00*6 13 88 61*5000 / 03 00*6 13 88 62*5000 / 00 01 63"));
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "ZMTP31, 08 00",
        "ZMTP31, 80 01 61",
        "ZMTP31, f8 02 6f 6b",
        "ZMTP30, 10 00",
        "ZMTP31, 05 05 04 50 4f 4e 47",
        "ZMTP31, 07 00*7 05 04 50 4f 4e 47",
        "ZMTP20, 04 05 04 50 4f 4e 47",
        "ZMTP20, 06 00*7 05 04 50 4f 4e 47",
        "ZMTP10, 00 00",
        "ZMTP10, ff 00*8 00"
    })
    void illegalHeadersEndTheConnection(ZMTPVersion version, String bytes) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            Failures.assertMalformed(peer.send(bytes));
        }
    }

    @ParameterizedTest
    @EnumSource(value = ZMTPVersion.class, names = "ZMTP10", mode = EnumSource.Mode.EXCLUDE)
    void onlyLegalFlagsBytesAreAccepted(ZMTPVersion version) {
        String pong = " 04 \"PONG\""; // a command, and as good a frame of a message as any
        for (int flags = 0; flags < 256; flags++) {
            boolean message = flags <= 3;
            boolean command = version.hasCommands() && (flags == 4 || flags == 6);
            try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
                peer.send("%02x".formatted(flags) + ((flags & 2) == 0 ? " 05" : " 00*7 05") + pong);
                if (message || command) {
                    assertThat(peer.failures).as("%x", flags).isEmpty();
                    assertThat(peer.messages)
                            .as("%x", flags)
                            .isEqualTo(flags == 0 || flags == 2 ? List.of("message " + Hex.of(pong)) : List.of());
                } else {
                    Failures.assertMalformed(peer);
                    assertThat(peer.messages).isEmpty();
                }
            }
        }
    }

    @Test
    void onlyTheLowestFlagOfA10FrameMatters() {
        for (int flags = 0; flags < 256; flags++) {
            try (ScriptedPeer peer = InTraffic.as(DEALER).peer(ZMTP10).start()) {
                peer.send("02 %02x 61 / 02 00 62".formatted(flags));
                assertThat(peer.failures).isEmpty();
                assertThat(peer.messages)
                        .as("%x", flags)
                        .isEqualTo(flags % 2 == 0 ? List.of("message 61", "message 62") : List.of("message 61 62"));
            }
        }
    }

    static List<Arguments> aboutTheSizeOfARead() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPVersion version : ZMTPVersion.values()) {
            for (int read : new int[] {8192, 65536}) {
                for (int difference : new int[] {-11, -10, -9, -8, -1, 0, 1, 9, 10}) {
                    all.add(Arguments.of(version, read, read + difference));
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}: {2} bytes in reads of {1}")
    @MethodSource("aboutTheSizeOfARead")
    void messagesOfAboutTheSizeOfAReadArriveComplete(ZMTPVersion version, int read, int length) {
        String header = version == ZMTP10 ? "ff %016x 00".formatted(length + 1) : "02 %016x".formatted(length);
        byte[] bytes = Hex.bytes("%1$s 61*%2$d / %1$s 62*%2$d / %1$s 63*%2$d".formatted(header, length));
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            for (int at = 0; at < bytes.length; at += read) {
                peer.send(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + read)));
            }
            assertThat(peer.messages)
                    .containsExactly(
                            "message " + "61".repeat(length),
                            "message " + "62".repeat(length),
                            "message " + "63".repeat(length));
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, ff 00*6 30 01 00 61*12288 / ff 00*6 30 01 00 62*12288 / 00",
        "ZMTP20, 02 00*6 30 00 61*12288 / 02 00*6 30 00 62*12288 / 08 00",
        "ZMTP31, 02 00*6 30 00 61*12288 / 02 00*6 30 00 62*12288 / 08 00"
    })
    void aFailureLeavesNothingForTheNextConnection(ZMTPVersion version, String bytes) {
        for (int connection = 0; connection < 2; connection++) {
            try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
                byte[] all = Hex.bytes(bytes);
                peer.send(Arrays.copyOf(all, 8192));
                Failures.assertMalformed(peer.send(Arrays.copyOfRange(all, 8192, all.length)));
                assertThat(peer.messages)
                        .containsExactly("message " + Hex.of("61*12288"), "message " + Hex.of("62*12288"));
            }
        }
    }

    private static final String COMMANDS_AND_MESSAGES = """
            00 02 6162                                 # "ab"
            01 01 63                                   # "c", more
            04 07 04 "PING" 00 00                      # in the midst of a message
            03 00*6 01 00 64*256                       # 256 times "d", more
            04 09 04 "PING" 00 64 65 66                # TTL, context "ef"
            02 00*7 01 67                              # "g", last
            00 02 01 41                                # subscription in its old form
            04 0b 09 "SUBSCRIBE" 42
            04 07 06 "CANCEL"
            02 00*6 14 00 68*5120                      # a big frame
            00 00                                      # an empty message
            """;

    private static ScriptedPeer publisher() {
        return InTraffic.as(XPUB).peer(ZMTPSocketType.XSUB).start();
    }

    private static List<String> allOf(ScriptedPeer peer) {
        List<String> all = new ArrayList<>(peer.messages);
        all.add(peer.received());
        assertThat(peer.failures).isEmpty();
        return all;
    }

    private static List<String> inOneRead() {
        try (ScriptedPeer peer = publisher()) {
            return allOf(peer.send(COMMANDS_AND_MESSAGES));
        }
    }

    @Test
    void aConversationInOneReadIsUnderstood() {
        assertThat(inOneRead())
                .containsExactly(
                        "message 6162",
                        "message 63 " + Hex.of("64*256") + " 67",
                        "subscribe 41",
                        "subscribe 42",
                        "cancel ",
                        "message " + Hex.of("68*5120"),
                        "message -",
                        Hex.of("04 05 04 \"PONG\" 04 07 04 \"PONG\" 65 66"));
    }

    @Test
    void aConversationSplitAtAnyByteIsUnderstood() {
        List<String> expected = inOneRead();
        byte[] bytes = Hex.bytes(COMMANDS_AND_MESSAGES);
        for (int cut = 0; cut <= bytes.length; cut++) {
            try (ScriptedPeer peer = publisher()) {
                peer.send(Arrays.copyOf(bytes, cut));
                peer.send(Arrays.copyOfRange(bytes, cut, bytes.length));
                assertThat(allOf(peer)).as("cut after %d", cut).isEqualTo(expected);
            }
        }
    }

    @Test
    void aConversationInSingleBytesIsUnderstood() {
        try (ScriptedPeer peer = publisher()) {
            for (byte oneByte : Hex.bytes(COMMANDS_AND_MESSAGES)) {
                peer.send(new byte[] {oneByte});
            }
            assertThat(allOf(peer)).isEqualTo(inOneRead());
        }
    }

    @Test
    void aConversationInRandomPiecesIsUnderstood() {
        List<String> expected = inOneRead();
        byte[] bytes = Hex.bytes(COMMANDS_AND_MESSAGES);
        for (long seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            int most = 1 << (1 + random.nextInt(12));
            try (ScriptedPeer peer = publisher()) {
                for (int at = 0; at < bytes.length; ) {
                    int next = Math.min(bytes.length, at + 1 + random.nextInt(most));
                    peer.send(Arrays.copyOfRange(bytes, at, next));
                    at = next;
                }
                assertThat(allOf(peer)).as("seed %d", seed).isEqualTo(expected);
            }
        }
    }

    @Test
    void aConversationThatEndsAnywhereFiresNoPartialMessage() {
        List<String> whole = inOneRead();
        byte[] bytes = Hex.bytes(COMMANDS_AND_MESSAGES);
        for (int end = 0; end < bytes.length; end++) {
            try (ScriptedPeer peer = publisher()) {
                peer.send(Arrays.copyOf(bytes, end)).channel.close();
                assertThat(peer.messages)
                        .as("end after %d", end)
                        .isEqualTo(whole.subList(0, peer.messages.size()))
                        .hasSizeLessThan(whole.size() - 1);
                assertThat(peer.failures).isEmpty();
            }
        }
    }

    @Test
    void aHandlerThatThrowsDoesNotDisturbTheCodec() {
        RuntimeException thrown = new IllegalStateException("the user's own");
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .after(new ChannelInboundHandlerAdapter() {
                    private boolean once;

                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        if (!once) {
                            once = true;
                            ReferenceCountUtil.release(msg);
                            throw thrown;
                        }
                        ctx.fireChannelRead(msg);
                    }
                })
                .start()) {
            peer.send("00 01 61 01 01 62 00 01 63 00 01");
            peer.send("64");
            assertThat(peer.failures).containsExactly(thrown);
            assertThat(peer.messages).containsExactly("message 62 63", "message 64");
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @Test
    void anythingButABufferPassesThrough() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.channel.writeInbound("not bytes");
            assertThat(peer.messages).containsExactly("not bytes");
        }
    }

    @Test
    void anEmptyReadIsIgnored() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("00 02 61");
            peer.channel.writeInbound(Unpooled.EMPTY_BUFFER);
            peer.send("62");
            assertThat(peer.messages).containsExactly("message 6162");
        }
    }
}
