package dev.zmtp.internal.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBufUtil;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Blocks and headers, byte by byte. */
class PcapngBlocksTest {

    private static final long TIME = 1_764_190_000_000_000_000L;

    private static String hex(byte[] bytes) {
        return ByteBufUtil.hexDump(bytes);
    }

    @Test
    void aSectionNamesTheApplication() {
        assertThat(hex(PcapngBlocks.section("abcde")))
                .isEqualTo(Hex.of("0a 0d 0d 0a 2c 00 00 00 4d 3c 2b 1a 01 00 00 00 ff*8"
                        + " 04 00 05 00 \"abcde\" 00 00 00 00 00 00 00 2c 00 00 00"));
    }

    @Test
    void anInterfaceHasANameADescriptionAndNanoseconds() {
        assertThat(hex(PcapngBlocks.describe("ipc:///run/echo", "ROUTER, bound")))
                .isEqualTo(Hex.of("01 00 00 00 48 00 00 00 65 00 00 00 00 00 00 00"
                        + " 02 00 0f 00 69 70 63 3a 2f 2f 2f 72 75 6e 2f 65 63 68 6f 00 03 00 0d 00 \"ROUTER,\" 20 \"bound\" 00 00 00"
                        + " 09 00 01 00 09 00 00 00 00 00 00 00 48 00 00 00"));
    }

    /** The question of a REQ. */
    @Test
    void aPacketHasItsTimeItsHeadersAndItsDirection() {
        byte[] payload = {1, 0, 0, 3, 'A', 'd', 'a'};
        ByteBuffer block = PcapngBlocks.beginPacket(TIME, 40 + payload.length, 40 + payload.length, null);
        tcp().put(block, true, 0x81, 0x81, TcpPackets.PSH | TcpPackets.ACK, payload.length);
        block.put(payload);

        assertThat(hex(PcapngBlocks.endPacket(block, PcapngBlocks.IN, null)))
                .isEqualTo(Hex.of("06 00 00 00 5c 00 00 00 00 00 00 00 75 a9 7b 18 00 e0 4b 3a 2f 00 00 00 2f 00 00 00"
                        + " 45 00 00 2f 00 00 40 00 40 06 3c c6 7f 00 00 02 7f 00 00 01"
                        + " 04 01 15 b3 00 00 00 81 00 00 00 81 50 18 ff ff 00 00 00 00"
                        + " 01 00 00 03 41 64 61 00 02 00 04 00 01 00 00 00 00 00 00 00 5c 00 00 00"));
    }

    @Test
    void anAddressOfIpv6HasItsOwnHeader() {
        TcpPackets tcp = TcpPackets.between(
                new InetSocketAddress("2001:db8::1", 40_000), new InetSocketAddress("2001:db8::2", 5_555), () -> 1);
        ByteBuffer packet = ByteBuffer.allocate(tcp.headers());
        tcp.put(packet, true, 1, 2, TcpPackets.ACK, 3);

        assertThat(hex(packet.array()))
                .isEqualTo(Hex.of("60 00 00 00 00 17 06 40 20 01 0d b8 00*11 01 20 01 0d b8 00*11 02"
                        + " 9c 40 15 b3 00 00 00 01 00 00 00 02 50 10 ff ff 00 00 00 00"));
    }

    @Test
    void aLongTextIsCutBetweenTwoCharacters() {
        byte[] cut = PcapngBlocks.text("x".repeat(1_023) + "é");

        assertThat(new String(cut, StandardCharsets.UTF_8)).isEqualTo("x".repeat(1_023));
    }

    private static TcpPackets tcp() {
        return TcpPackets.between(null, null, () -> 1);
    }

    @Test
    void aPacketCanHaveAComment() {
        byte[] comment = "why".getBytes(StandardCharsets.UTF_8);
        ByteBuffer block = PcapngBlocks.beginPacket(TIME, 1, 9, comment).put((byte) 0x2a);

        assertThat(hex(PcapngBlocks.endPacket(block, PcapngBlocks.OUT, comment)))
                .isEqualTo(Hex.of("06 00 00 00 38 00 00 00 00 00 00 00 75 a9 7b 18 00 e0 4b 3a 01 00 00 00 09 00 00 00"
                        + " 2a 00 00 00 01 00 03 00 \"why\" 00 02 00 04 00 02 00 00 00 00 00 00 00 38 00 00 00"));
    }

    @Test
    void statisticsHaveTheWrittenAndTheDroppedPackets() {
        assertThat(hex(PcapngBlocks.statistics(1, TIME, TIME, 20, 3, false)))
                .isEqualTo(
                        Hex.of(
                                "05 00 00 00 40 00 00 00 01 00 00 00 75 a9 7b 18 00 e0 4b 3a"
                                        + " 02 00 08 00 75 a9 7b 18 00 e0 4b 3a 04 00 08 00 14 00*7 05 00 08 00 03 00*7 00 00 00 00 40 00 00 00"));
    }

    @Test
    void statisticsOfAPartHaveAComment() {
        assertThat(hex(PcapngBlocks.statistics(1, TIME, TIME, 20, 3, true)))
                .startsWith(Hex.of("05 00 00 00 68 00 00 00 01 00 00 00"))
                .endsWith(Hex.of("05 00 08 00 03 00*7 01 00 22 00 \"part\" 20 \"of\" 20 \"a\" 20 \"capture\" 20 \"of\""
                        + " 20 \"several\" 20 \"files\" 00 00 00 00 00 00 68 00 00 00"));
    }
}
