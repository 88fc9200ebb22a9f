package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class DoorbellTest {

    /** Otherwise the bytes for a side that never reads its socket would pile up. */
    @Test
    void aSideThatHasNotAnsweredManyRingsIsNotRungAgain() {
        EmbeddedChannel socket = new EmbeddedChannel();
        Doorbell.ring(socket);
        socket.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        Doorbell.ring(socket);
        socket.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        assertThat(Hex.dump((ByteBuf) socket.readOutbound())).isEqualTo("01");
        assertThat(socket.<Object>readOutbound()).isNull();
        socket.finishAndReleaseAll();
    }

    /** A transport copies other buffers into direct ones, for which there may be no memory. */
    @Test
    void aRingIsDirectMemoryAlready() {
        EmbeddedChannel socket = new EmbeddedChannel();
        Doorbell.ring(socket);
        Doorbell.ringLast(socket);
        for (String ring : new String[] {"01", "02"}) {
            ByteBuf bytes = socket.readOutbound();
            assertThat(bytes.isDirect()).isTrue();
            assertThat(Hex.dump(bytes)).isEqualTo(ring);
        }
        socket.finishAndReleaseAll();
    }
}
