package dev.zmtp.codec.writing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The count of written messages on a socket whose peer stops reading and then resets the connection. */
class MessagesWrittenLoopbackTest {

    private static final int FIRST = 100;

    @TempDir
    private Path dir;

    private Loopback net;
    private final Loopback.End server = new Loopback.End(UnaryOperator.identity());
    private final Loopback.End client = new Loopback.End(UnaryOperator.identity());
    private final ZMTPSession session = client.codec.session();

    private final AtomicLong given = new AtomicLong();

    /** Of the client's event loop, until the channel is closed. */
    private final List<ChannelFuture> writes = new ArrayList<>();

    private long lastSeen;

    @BeforeEach
    void connect() throws InterruptedException {
        net = new Loopback(TestTransport.NIO.kit(), TestTransport.NIO.newAddress(dir));
        net.set(ChannelOption.SO_SNDBUF, 64 << 10); // or the kernel takes as much as it likes
        net.set(ChannelOption.SO_RCVBUF, 64 << 10);
        net.listen(server.codec, server);
        net.connect(client.codec, client);
        server.assertSucceeded();
        client.assertSucceeded();
    }

    @AfterEach
    void close() {
        net.close();
    }

    @Test
    void whatIsNotCountedIsWhatFailed() throws InterruptedException {
        write(FIRST);
        Loopback.await(() -> look() == FIRST);
        for (int i = 0; i < FIRST; i++) {
            assertThat(server.number()).isEqualTo(i);
        }

        server.channel.config().setAutoRead(false);
        while (client.channel.isWritable()) {
            write(50);
            look();
        }
        write(1000); // 2 MB
        ((SocketChannel) server.channel).config().setSoLinger(0);
        server.channel.close();
        Loopback.await(() -> look() >= 0 && !client.channel.isOpen());
        client.assertClosed();

        long taken = writes.stream().filter(ChannelFuture::isSuccess).count();
        assertThat(writes).hasSize((int) given.get()).allMatch(ChannelFuture::isDone);
        assertThat(session.messagesWritten()).isEqualTo(taken).isBetween((long) FIRST, given.get() - 1);
        server.numbers(); // what was read nevertheless
    }

    /** Writes so many messages, most of them small, from the event loop, and waits until the codec has them. */
    private void write(int count) throws InterruptedException {
        Loopback.await(client.channel.eventLoop().submit(() -> {
            for (int i = 0; i < count; i++) {
                int number = (int) given.getAndIncrement();
                writes.add(client.write(number, number % 10 == 0 ? 20_000 : 4 + number % 700));
            }
            client.channel.flush();
        }));
    }

    /** Returns what is counted now, which is no less than before, and no more than was given. */
    private long look() {
        long seen = session.messagesWritten();
        assertThat(seen).isBetween(lastSeen, given.get());
        lastSeen = seen;
        return seen;
    }
}
