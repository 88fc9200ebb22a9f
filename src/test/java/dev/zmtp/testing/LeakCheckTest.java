package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The check sees what leaks, with the detector of each Netty: otherwise it would pass for nothing. */
class LeakCheckTest {

    @Test
    void anUnreleasedBufferIsReportedOnce() throws Exception {
        UnpooledByteBufAllocator.DEFAULT.directBuffer().writeByte(1); // memory that the garbage collector frees
        LeakCheck.findLogged();
        assertThatThrownBy(LeakCheck::check)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching("(?s)(Possible memory leak detected|leaks: \\[LEAK: ByteBuf).*");
        LeakCheck.check();
    }
}
