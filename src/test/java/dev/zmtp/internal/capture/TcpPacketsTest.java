package dev.zmtp.internal.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TcpPacketsTest {

    private static String headers(int number) {
        ByteBuffer packet = ByteBuffer.allocate(40);
        TcpPackets.between(null, null, () -> number).put(packet, true, 0, 0, TcpPackets.SYN, 0);
        return ByteBufUtil.hexDump(packet.array());
    }

    /** A connection can be open while all ports are used again. */
    @Test
    void connectionsWithoutAddressesAreToldApartBeyondTheNumberOfPorts() {
        int[] numbers = {0, 1, 64_511, 64_512, 64_513, 129_025, Integer.MAX_VALUE, Integer.MIN_VALUE, -1};

        assertThat(IntStream.of(numbers).mapToObj(TcpPacketsTest::headers)).doesNotHaveDuplicates();
    }

    @Test
    void theFirstConnectionsHaveTheSameAddresses() {
        assertThat(headers(1)).contains("7f0000027f000001" + "0401" + "15b3");
        assertThat(headers(64_511)).contains("7f0000027f000001" + "ffff" + "15b3");
        assertThat(headers(64_512)).contains("7f0000037f000001" + "0400" + "15b3");
    }
}
