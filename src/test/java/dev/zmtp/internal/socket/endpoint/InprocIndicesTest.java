package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A receiver in the same process reads the frames, and the sender has kept them. */
class InprocIndicesTest {

    private static final long VALUE = 0x0102030405060708L;

    interface Derived {
        /** Returns a message with the frames of the other after those of its own. */
        ZMTPMessage of(ZMTPMessage kept);
    }

    static Stream<Derived> ways() {
        return Stream.of(
                ZMTPMessage::retain,
                kept -> kept.push(Unpooled.EMPTY_BUFFER),
                kept -> kept.retain().prepend(Unpooled.EMPTY_BUFFER),
                kept -> {
                    ZMTPMessage more = kept.push(Unpooled.EMPTY_BUFFER);
                    ZMTPMessage same = more.pop();
                    more.release();
                    return same;
                },
                kept -> kept.push(Unpooled.EMPTY_BUFFER).removeFirst(1),
                kept -> ZMTPMessage.from(kept.frame(0).retain()));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void whatTheSenderHasKeptKeepsItsReaderIndex(Derived way, TestSockets sockets) {
        ZMTPSocket sender = sockets.open(PAIR);
        ZMTPSocket receiver = sockets.open(PAIR);
        connect(sender, bind(receiver, "inproc://indices"));
        ZMTPMessage kept = ZMTPMessage.from(Unpooled.copyLong(VALUE));

        for (int i = 0; i < 2; i++) {
            sender.sendOrDrop(way.of(kept));
            ZMTPMessage received = get(receiver.receiveAsync());
            ByteBuf last = received.frame(received.size() - 1);
            assertThat(last.readLong()).isEqualTo(VALUE);
            received.release();
        }

        assertThat(kept.frame(0).readableBytes()).isEqualTo(Long.BYTES);
        kept.release();
    }

    @Test
    void whatIsReceivedHasNoEncodedFormOfItsSender(TestSockets sockets) {
        ZMTPSocket sender = sockets.open(PAIR);
        ZMTPSocket receiver = sockets.open(PAIR);
        connect(sender, bind(receiver, "inproc://encoded"));
        ZMTPMessage encoded = TestSockets.message("a", "b").encodeOnce();
        encoded.write(UnpooledByteBufAllocator.DEFAULT, ZMTPVersion.ZMTP31).release();

        sender.sendOrDrop(encoded);
        ZMTPMessage received = get(receiver.receiveAsync());
        received.frame(1).setByte(0, 'c');

        ByteBuf forwarded = received.write(UnpooledByteBufAllocator.DEFAULT, ZMTPVersion.ZMTP31);
        assertThat(Hex.dump(forwarded)).isEqualTo(Hex.dump(Hex.buffer("01 01 61 00 01 63")));
        received.release();
    }
}
