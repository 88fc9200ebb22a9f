package dev.zmtp.internal.transport;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.TransportCounts;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.IllegalReferenceCountException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Messages that do not go through the outbound buffer of a channel within the process. Both ends have one event loop. */
class InprocPassTest {

    private final EventLoops loops = new EventLoops(1);
    private final List<String> received = new ArrayList<>();
    private InprocEnds ends;
    private Channel client;

    @BeforeEach
    void connect() throws Exception {
        ends = new InprocEnds(loops.group(), loops.group(), new QueueLimit(4, 1_000), new Reader());
        client = ends.client;
    }

    @AfterEach
    void close() {
        ends.close();
        loops.close();
    }

    private final class Reader extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            ZMTPMessage message = (ZMTPMessage) read;
            received.add(message.frameUTF8(0));
            message.release();
        }
    }

    private void onTheLoop(Runnable task) throws Exception {
        client.eventLoop().submit(task).sync();
    }

    /** Returns what the other end has read after the tasks that are due. */
    private List<String> received() throws Exception {
        List<String> all = new ArrayList<>();
        for (int turn = 0; turn < 3; turn++) {
            onTheLoop(() -> {
                all.addAll(received);
                received.clear();
            });
        }
        return all;
    }

    private boolean pass(String text) {
        ZMTPMessage message = message(text);
        boolean passed = InprocTransport.pass(client, message);
        if (!passed) {
            client.write(message, client.voidPromise());
        }
        return passed;
    }

    @Test
    void aPassedMessageIsReadAfterAFlush() throws Exception {
        onTheLoop(() -> assertThat(pass("1")).isTrue());

        assertThat(received()).isEmpty();

        onTheLoop(() -> InprocTransport.flushPassed(client));

        assertThat(received()).containsExactly("1");
    }

    @Test
    void aMessageBehindAnotherThatWaitsIsNotPassed() throws Exception {
        onTheLoop(() -> {
            assertThat(pass("1")).isTrue();
            client.write(message("2"));
            assertThat(pass("3")).isFalse();
            client.flush();
            assertThat(pass("4")).isTrue();
            InprocTransport.flushPassed(client);
        });

        assertThat(received()).containsExactly("1", "2", "3", "4");
    }

    @Test
    void aMessageThatFindsNoRoomWaits() throws Exception {
        onTheLoop(() -> {
            for (int i = 1; i <= 4; i++) {
                assertThat(pass("" + i)).isTrue();
            }
            assertThat(pass("5")).isFalse();
            InprocTransport.flushPassed(client);
            client.flush();
        });

        assertThat(received()).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void whatWasPassedIsReadThoughTheWriterClosesBeforeItFlushes() throws Exception {
        onTheLoop(() -> {
            assertThat(pass("1")).isTrue();
            client.close();
        });

        assertThat(received()).containsExactly("1");
        assertThat(ends.accepted.isOpen()).isFalse();
    }

    private ZMTPMessage passToAClosedEnd(Runnable then) throws Exception {
        ZMTPMessage lost = message("lost");
        onTheLoop(() -> {
            ends.accepted.close();
            assertThat(InprocTransport.pass(client, lost)).isTrue();
            then.run();
        });
        return lost;
    }

    @Test
    void whatWasPassedToAnEndThatHasClosedIsReleased() throws Exception {
        ZMTPMessage lost = passToAClosedEnd(() -> InprocTransport.flushPassed(client));

        assertThat(lost.refCnt()).isZero();
    }

    @Test
    void whatWasPassedToAnEndThatHasClosedIsReleasedWithoutAFlush() throws Exception {
        ZMTPMessage lost = passToAClosedEnd(() -> {});
        client.closeFuture().sync();

        assertThat(lost.refCnt()).isZero();
    }

    @Test
    void whatItsSenderHasReleasedIsNotPassed() throws Exception {
        ZMTPMessage message = message("released");
        message.release();

        onTheLoop(() -> assertThat(InprocTransport.pass(client, message)).isFalse());
    }

    @Test
    void aWriteOfWhatItsSenderHasReleasedFailsAlone() throws Exception {
        ZMTPMessage message = message("released");
        message.release();
        ChannelPromise promise = client.newPromise();

        onTheLoop(() -> {
            client.write(message, promise);
            client.writeAndFlush(message("next"));
        });

        assertThat(received()).containsExactly("next");
        assertThat(promise.cause()).hasCauseInstanceOf(IllegalReferenceCountException.class);
        assertThat(client.isActive()).isTrue();
    }

    @Test
    void aWriteThatFailsForAnotherReasonClosesTheChannel() throws Exception {
        CompletableFuture<Void> inactive = new CompletableFuture<>();
        client.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                inactive.complete(null);
            }
        });
        ((TransportCounts) client).listen(new TransportCounts.Listener() {
            @Override
            public void written(int messages) {
                throw new OutOfMemoryError("planned");
            }

            @Override
            public void transferred(long received, long sent) {}
        });

        onTheLoop(() -> client.writeAndFlush(message("fails")));

        assertThat(inactive).succeedsWithin(TestSockets.PATIENCE);
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    void nothingIsPassedOnceTheChannelHasClosed() throws Exception {
        ZMTPMessage message = message("late");

        onTheLoop(() -> {
            client.close();
            assertThat(InprocTransport.pass(client, message)).isFalse();
        });

        message.release();
    }
}
