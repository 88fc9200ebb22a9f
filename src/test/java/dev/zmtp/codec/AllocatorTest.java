package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.LeakPresenceDetector;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Guards the steps that run the tests with each of Netty's allocators: they must not lie, and see what leaks. */
class AllocatorTest {

    @Test
    void theTestsUseTheAllocatorNamedByTheBuild() {
        String expected = System.getProperty("expected.allocator");
        assertThat(expected).isNotNull();

        try (ScriptedPeer peer = InTraffic.as(ZMTPSocketType.DEALER).start()) {
            ByteBufAllocator allocator = peer.channel.alloc();
            ByteBuf buffer = allocator.buffer();
            String type = allocator.getClass().getSimpleName().replace("ByteBufAllocator", "");
            String actual = type.toLowerCase(Locale.ROOT) + (buffer.isDirect() ? " direct" : " heap");
            buffer.release();

            assertThat(actual).isEqualTo(expected);
            assertThat(allocator).isSameAs(ByteBufAllocator.DEFAULT);
        }
    }

    @Test
    @Tag("netty-4.2-only")
    void anUnreleasedBufferIsDetected() {
        ByteBuf lost = ByteBufAllocator.DEFAULT.buffer();

        assertThatThrownBy(LeakPresenceDetector::check)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("leak");
        // To release it now would be counted against the next one, and it is small.
        assertThat(lost.refCnt()).isEqualTo(1);
    }
}
