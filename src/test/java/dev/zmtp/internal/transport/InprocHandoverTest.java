package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Messages that go by reference from one event loop to another. */
class InprocHandoverTest {

    @Test
    void aMessageMayBeReleasedByItsReaderBeforeItsWriterGoesOn() throws Exception {
        try (EventLoops writers = new EventLoops(1);
                EventLoops readers = new EventLoops(1);
                InprocEnds ends =
                        new InprocEnds(writers.group(), readers.group(), QueueLimit.DEFAULT, new Releasing())) {
            Overtaken message = new Overtaken(ends.accepted);
            Throwable failure = ends.client.writeAndFlush(message).await().cause();

            assertThat(failure).isNull();
            ends.client.close().sync();
            TestSockets.await("released", () -> message.refCnt() == 0);
        }
    }

    private static final class Releasing extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object received) {
            ReferenceCountUtil.release(received);
        }
    }

    /** Before a reference to it is taken, its reader takes and releases what has been handed over. */
    private static final class Overtaken extends AbstractReferenceCounted {
        private final Channel reader;
        private final AtomicInteger reads = new AtomicInteger();
        private final Runnable read;

        Overtaken(Channel reader) {
            this.reader = reader;
            this.read = () -> {
                reader.read();
                reads.incrementAndGet();
            };
        }

        @Override
        public ReferenceCounted retain() {
            EventLoop its = reader.eventLoop();
            its.execute(read);
            its.execute(read); // after what the first one has begun
            int turns = 0;
            while (turns < 2) { // onSpinWait counts as blocking on an event loop
                turns = reads.get();
            }
            return super.retain();
        }

        @Override
        public ReferenceCounted touch(Object hint) {
            return this;
        }

        @Override
        protected void deallocate() {}
    }
}
