package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a receiver that keeps a message for long keeps with it. */
class KeptMessagesTest {

    private static final int READ = 1 << 16;

    /** Keeps one message of so many, and releases the others. */
    private static final class Keeper extends ChannelInboundHandlerAdapter {
        private final int every;
        private final List<ZMTPMessage> kept = new ArrayList<>();
        private int received;

        Keeper(int every) {
            this.every = every;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage message = (ZMTPMessage) msg;
            if (received++ % every == 0) {
                kept.add(message);
            } else {
                message.release();
            }
        }
    }

    @ParameterizedTest(name = "messages of {0} bytes")
    @ValueSource(ints = {1, 100, 1024})
    void aSmallMessageRetainsNoReadBuffer(int size) {
        Keeper keeper = new Keeper(1000);
        try (ScriptedPeer peer = InTraffic.as(DEALER).after(keeper).start()) {
            int messages = 5000;
            ByteBuf stream = peer.channel.alloc().buffer();
            for (int i = 0; i < messages; i++) {
                ZMTPMessage message = ZMTPMessage.from(
                        peer.channel.alloc().buffer(size).writeByte(i / 1000).writeZero(size - 1));
                message.write(stream, peer.codec().session().negotiatedVersion());
                message.release();
            }
            List<ByteBuf> reads = new ArrayList<>();
            while (stream.isReadable()) {
                ByteBuf read = peer.channel.alloc().buffer(READ, READ);
                reads.add(read.writeBytes(stream, Math.min(READ, stream.readableBytes())));
                peer.channel.writeInbound(read);
            }
            stream.release();

            assertThat(keeper.received).isEqualTo(messages);
            assertThat(reads).allMatch(read -> read.refCnt() == 0);
            for (int i = 0; i < keeper.kept.size(); i++) {
                ByteBuf frame = keeper.kept.get(i).frame(0);
                assertThat(frame.readableBytes()).isEqualTo(size);
                assertThat(frame.getByte(0)).isEqualTo((byte) i); // whatever came after it
                keeper.kept.get(i).release();
            }
        }
    }

    @Test
    void aLargeFrameIsASliceOfItsReadBuffer() {
        Keeper keeper = new Keeper(1);
        try (ScriptedPeer peer = InTraffic.as(DEALER).after(keeper).start()) {
            ByteBuf read = peer.channel.alloc().buffer(READ, READ);
            read.writeByte(2).writeLong(1025).writeZero(1025);
            peer.channel.writeInbound(read);

            assertThat(read.refCnt()).isOne();
            keeper.kept.get(0).release();
            assertThat(read.refCnt()).isZero();
        }
    }

    @Test
    void smallFramesOfAnIncompleteMessageRetainNoReadBuffer() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf read = peer.channel.alloc().buffer(65536);
            read.writeBytes(Hex.bytes("01 01 61 / 01 00 / 01 02 62 63"));
            peer.channel.writeInbound(read);
            assertThat(read.refCnt()).isZero();
            peer.send("00 01 64");
            assertThat(peer.messages).containsExactly("message 61 - 6263 64");
        }
    }

    @Test
    void framesOfAnIncompleteMessageDoNotRetainTheBufferOfASlicedRead() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf large = peer.channel.alloc().buffer(65536);
            large.writeBytes(Hex.bytes("03 00*6 07 d0 61*2000"));
            peer.channel.writeInbound(large.readRetainedSlice(2009));
            assertThat(large.release()).isTrue();
        }
    }

    @Test
    void aLargeFrameOfAnIncompleteMessageIsNotCopied() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf read = peer.channel.alloc().buffer(4096);
            read.writeBytes(Hex.bytes("03 00*6 07 d2 61*2002"));
            ByteBuf large = peer.channel.alloc().buffer(4096);
            large.writeBytes(Hex.bytes("03 00*6 08 00 61*2048"));
            peer.channel.writeInbound(read, large);
            assertThat(read.refCnt()).isZero();
            assertThat(large.refCnt()).isOne();
        }
    }
}
