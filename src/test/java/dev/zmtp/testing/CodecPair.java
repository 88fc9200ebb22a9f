package dev.zmtp.testing;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.function.UnaryOperator;

/** Two embedded channels whose bytes go to each other: a connection without threads, sockets or time. */
public final class CodecPair implements AutoCloseable {

    /** One end of the connection, and all that its codec fired. */
    public static final class Side {
        private final Recorder<Object> recorder = Recorder.ofAll();
        /** The channel. */
        public final EmbeddedChannel channel;
        /** User events, in order. */
        public final List<Object> events = recorder.events;
        /** Messages, in order; the test's to release. */
        public final List<Object> messages = recorder.messages;
        /** What came to exceptionCaught. */
        public final List<Throwable> failures = recorder.failures;
        /** Events, messages and failures, in the order in which they came. */
        public final List<Object> all = recorder.all;

        private Side(ChannelHandler... handlers) {
            channel = new EmbeddedChannel();
            channel.pipeline().addLast(handlers);
            channel.pipeline().addLast(recorder);
        }
    }

    /** The two ends. */
    public final Side left;

    /** The other end. */
    public final Side right;

    /** Connects two codecs, which are added to active channels. Nothing has crossed yet: see {@link #exchange}. */
    public CodecPair(ChannelHandler left, ChannelHandler right) {
        this.left = new Side(left);
        this.right = new Side(right);
    }

    /**
     * Two DEALERs with CURVE that have shaken hands. The right one is the server.
     *
     * @param server what else is set for it
     */
    public static CodecPair curve(UnaryOperator<ZMTPCodec.Builder> server) {
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        ZMTPCodec.Builder right = ZMTPCodec.builder()
                .socketType(DEALER)
                .mechanism(ZMTPCurve.server(keys))
                .authenticator(ZMTPAuthenticator.acceptAll())
                .handshakeExecutor(Runnable::run);
        ZMTPCodec left = ZMTPCodec.builder()
                .socketType(DEALER)
                .mechanism(ZMTPCurve.client(keys.publicKey(), ZMTPCurveKeyPair.generate()))
                .handshakeExecutor(Runnable::run)
                .build();
        return new CodecPair(left, server.apply(right).build()).exchange();
    }

    /** Carries bytes in both directions until neither end sends more, nor has a turn to come. */
    public CodecPair exchange() {
        boolean moved = true;
        while (moved) {
            left.channel.runPendingTasks();
            right.channel.runPendingTasks();
            boolean forth = carry(left, right);
            boolean back = carry(right, left);
            moved = forth || back || left.channel.hasPendingTasks() || right.channel.hasPendingTasks();
        }
        return this;
    }

    private static boolean carry(Side from, Side to) {
        boolean moved = false;
        for (ByteBuf bytes = from.channel.readOutbound(); bytes != null; bytes = from.channel.readOutbound()) {
            if (to.channel.isActive()) {
                to.channel.writeInbound(bytes);
            } else {
                bytes.release();
            }
            moved = true;
        }
        if (!from.channel.isActive() && to.channel.isActive()) {
            to.channel.close();
            moved = true;
        }
        return moved;
    }

    @Override
    public void close() {
        left.channel.finishAndReleaseAll();
        right.channel.finishAndReleaseAll();
    }
}
