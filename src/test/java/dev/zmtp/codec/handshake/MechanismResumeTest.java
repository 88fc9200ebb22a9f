package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A mechanism that continues later, from outside an event of the channel. */
class MechanismResumeTest {

    /** A mechanism that has nothing to send before it is resumed. */
    private static class LateMechanism implements ZMTPMechanism {
        private final List<String> log = new ArrayList<>();
        private boolean ready;
        private @Nullable RuntimeException failure;
        private @Nullable Context context;

        List<String> log() {
            return log;
        }

        LateMechanism in(Context context) {
            this.context = context;
            return this;
        }

        @Override
        public String name() {
            return "NULL";
        }

        @Override
        public @Nullable ByteBuf poll() {
            log.add("poll");
            if (failure != null) {
                throw failure;
            }
            return null;
        }

        @Override
        public void receive(ByteBuf command) {}

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public ZMTPMetadata peerMetadata() {
            return ZMTPMetadata.EMPTY;
        }

        @Override
        public @Nullable ByteBuf refuse(ZMTPException cause) {
            return Unpooled.wrappedBuffer(Hex.bytes("05 \"ERROR\" 02 \"no\""));
        }

        @Override
        public void close() {
            log.add("close");
        }

        void resume(ScriptedPeer peer) {
            if (context != null) {
                context.resume();
            }
            peer.channel.runPendingTasks();
        }
    }

    @Test
    void aMechanismThatRefusesOnResumeIsAskedForItsRefusal() {
        LateMechanism mechanism = new LateMechanism();
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING)) {
            peer.received();
            mechanism.failure = new ZMTPException(ZMTPException.Code.PEER_ERROR, "denied");
            mechanism.resume(peer);
            assertThat(peer.received()).isEqualTo(Hex.of("04 09 05 \"ERROR\" 02 \"no\""));
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasToString("dev.zmtp.ZMTPException: denied, peer embedded");
            assertThat(mechanism.log).containsExactly("poll", "poll", "close");
        }
    }

    @Test
    void aMechanismThatHasEndedTheConnectionIsNotAskedForItsRefusal() {
        ScriptedPeer[] self = new ScriptedPeer[1];
        LateMechanism mechanism = new LateMechanism() {
            @Override
            public void receive(ByteBuf command) {
                self[0].channel.close();
                throw new ZMTPException(ZMTPException.Code.PEER_ERROR, "denied");
            }

            @Override
            public @Nullable ByteBuf refuse(ZMTPException cause) {
                log().add("refuse");
                return super.refuse(cause);
            }
        };
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            self[0] = peer;
            peer.send(GREETING + "04 01 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(mechanism.log).containsExactly("poll", "close");
        }
    }

    @Test
    void noMessagePrecedesTheEventOfAResumedHandshake() {
        LateMechanism mechanism = new LateMechanism();
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(
                new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void flush(ChannelHandlerContext ctx) {
                        ctx.flush();
                        if (mechanism.ready) {
                            ctx.fireChannelRead(Hex.buffer("00 01 41"));
                        }
                    }
                },
                codec)) {
            peer.send(GREETING);
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("held"));
            mechanism.ready = true;
            mechanism.resume(peer);
            mechanism.ready = false;
            assertThat(peer.all).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).containsExactly(message("A"));
        }
    }
}
