package dev.zmtp.codec.transports;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.NULL;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.haproxy.HAProxyProtocolException;
import io.netty.handler.proxy.HttpProxyHandler;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.proxy.ProxyConnectionEvent;
import io.netty.handler.proxy.Socks5ProxyHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where in a pipeline a codec may stand, and when it may be added. */
class PipelinePositionsTest {

    private static final String HANDSHAKE = GREETING + ready("ROUTER");

    private static ZMTPCodec dealer() {
        return ZMTPCodec.of(ZMTPSocketType.DEALER);
    }

    @Test
    void aCodecAddedToAnActiveChannelGreetsAtOnce() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.pipeline().addLast(dealer());
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of(SIGNATURE));
        channel.finishAndReleaseAll();
    }

    @Test
    void aCodecAddedEarlyGreetsWhenTheChannelIsActive() throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel(false, false);
        channel.pipeline().addLast(dealer());
        assertThat(channel.outboundMessages()).isEmpty();
        channel.register();
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of(SIGNATURE));
        assertThat(channel.outboundMessages()).isEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void aCodecAddedByAnInitializerGreetsOnce() {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(dealer());
            }
        });
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of(SIGNATURE));
        assertThat(channel.outboundMessages()).isEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void aSecondChannelActiveSendsNoSecondGreeting() {
        try (ScriptedPeer peer = new ScriptedPeer(dealer())) {
            peer.received();
            peer.channel.pipeline().fireChannelActive();
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void anythingButABufferPassesThrough() {
        try (ScriptedPeer peer = new ScriptedPeer(dealer())) {
            peer.channel.writeInbound("a string");
            assertThat(peer.messages).containsExactly("a string");
            peer.messages.clear();
        }
    }

    @Test
    void otherHandlersEventsPassThrough() {
        try (ScriptedPeer peer = new ScriptedPeer(dealer())) {
            peer.channel.pipeline().fireUserEventTriggered("an event");
            assertThat(peer.events).containsExactly("an event");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"PROXY\" 20 \"TCP4\" 20 \"1.2.3.4\" 20 \"5.6.7.8\" 20 \"9\" 20 \"10\" 0d0a",
                "0d0a0d0a 00 0d0a \"QUIT\" 0a 21 11 000c 01020304 05060708 0009 000a"
            })
    void theHaproxyHeaderIsFiredFirst(String header) {
        String theirs = header + " " + HANDSHAKE + "00 02 \"hi\"";
        byte[] bytes = Hex.bytes(theirs);
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = new ScriptedPeer(new HAProxyMessageDecoder(), dealer())) {
                assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE));
                peer.send(bytes, split);
                peer.onlyEvent(ZMTPHandshakeSuccess.class);
                assertThat(peer.failures).isEmpty();
                assertThat(peer.messages).hasSize(2);
                assertThat(peer.messages.get(0)).startsWith("HAProxyMessage(").contains("sourceAddress: 1.2.3.4,");
                assertThat(peer.messages.get(1)).isEqualTo(message("hi"));
            }
        }
    }

    @Test
    void theGreetingWaitsForTheTunnelOfASocksProxy() {
        ScriptedPeer peer = new ScriptedPeer(
                new Socks5ProxyHandler(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1080)), dealer());
        peer.channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555));
        assertThat(peer.received()).isEqualTo(Hex.of("05 01 00"));
        peer.send("05 00");
        assertThat(peer.received()).isEqualTo(Hex.of("05 01 00 01 7f000001 15b3"));
        assertThat(peer.events).isEmpty();
        peer.send("05 00 00 01 7f000001 15b3");
        assertThat(peer.events).singleElement().isInstanceOf(ProxyConnectionEvent.class);
        assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE));
        peer.send(HANDSHAKE);
        assertThat(peer.received()).startsWith(Hex.of("03 01" + " " + NULL));
        assertThat(peer.events).hasSize(2).last().isInstanceOf(ZMTPHandshakeSuccess.class);
        peer.close();
    }

    @Test
    void aSocksProxyThatRefusesFailsTheHandshakeOnce() {
        ScriptedPeer peer = new ScriptedPeer(
                new Socks5ProxyHandler(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1080)), dealer());
        peer.channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555));
        peer.send("05 00");
        peer.send("05 05 00 01 00000000 0000");
        assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessageContaining("CONNECTION_REFUSED");
        assertThat(peer.failures).isEmpty();
        assertThat(peer.channel.isOpen()).isFalse();
        peer.close();
    }

    /** A channel with an HTTP proxy handler, which must know its target before it is added to an active channel. */
    private static final class Proxied extends EmbeddedChannel {
        private boolean connected;
        private final Recorder<Object> recorder = Recorder.ofAll();

        @Override
        public boolean isActive() {
            return connected && super.isActive();
        }

        static Proxied start() {
            InetAddress here = InetAddress.getLoopbackAddress();
            Proxied channel = new Proxied();
            channel.pipeline()
                    .addLast(new HttpProxyHandler(new InetSocketAddress(here, 8080)), dealer(), channel.recorder);
            channel.connect(InetSocketAddress.createUnresolved("zmtp.test", 5555));
            channel.connected = true;
            channel.pipeline().fireChannelActive();
            return channel;
        }

        void receive(String hex) {
            writeInbound(Hex.buffer(hex));
        }

        String sent() {
            StringBuilder out = new StringBuilder();
            for (ByteBuf bytes = readOutbound(); bytes != null; bytes = readOutbound()) {
                out.append(Hex.dump(bytes));
            }
            return out.toString();
        }
    }

    @Test
    void theGreetingWaitsForTheTunnelOfAnHttpProxy() {
        Proxied channel = Proxied.start();
        assertThat(channel.sent())
                .startsWith(Hex.of("\"CONNECT\" 20 \"zmtp.test:5555\" 20 \"HTTP\" 2f \"1.1\" 0d0a"))
                .endsWith(Hex.of("0d0a 0d0a"));
        assertThat(channel.recorder.all).isEmpty();
        channel.receive("\"HTTP\" 2f \"1.1\" 20 \"200\" 20 \"OK\" 0d0a 0d0a");
        assertThat(channel.recorder.all).singleElement().isInstanceOf(ProxyConnectionEvent.class);
        assertThat(channel.sent()).isEqualTo(Hex.of(SIGNATURE));
        channel.receive(HANDSHAKE);
        assertThat(channel.sent()).startsWith(Hex.of("03 01" + " " + NULL));
        assertThat(channel.recorder.all).hasSize(2).last().isInstanceOf(ZMTPHandshakeSuccess.class);
        channel.finishAndReleaseAll();
    }

    @Test
    void anHttpProxyThatWantsAPasswordFailsTheHandshakeAndHeldWritesOnce() {
        Proxied channel = Proxied.start();
        channel.sent();
        ZMTPMessage held = ZMTPMessage.from(channel.alloc().buffer().writeByte(1));
        ChannelFuture write = channel.writeAndFlush(held);
        channel.receive(
                "\"HTTP\" 2f \"1.1\" 20 \"407\" 20 \"No\" 0d0a \"Proxy-Authenticate:Basic\" 0d0a \"Content-Length:0\""
                        + " 0d0a 0d0a");
        channel.runPendingTasks();
        assertThat(channel.recorder.all).singleElement().isInstanceOfSatisfying(ZMTPHandshakeFailure.class, failure -> {
            assertThat(failure.cause())
                    .isInstanceOf(ProxyConnectException.class)
                    .hasMessageContaining("status: 407");
            assertThat(write.cause()).isSameAs(failure.cause());
        });
        assertThat(held.refCnt()).isZero();
        assertThat(channel.isOpen()).isFalse();
        assertThat(channel.sent()).isEmpty();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"PROXY\" 20 \"TCP4\" 20 \"1.2.3.4\" 20 \"5.6.7.8\" 20 \"9\" 0d0a", // without a port
                "\"PROXY\" 20 \"TCP9\" 20 \"1.2.3.4\" 20 \"5.6.7.8\" 20 \"9\" 20 \"10\" 0d0a",
                "\"PROXY\" 20 61*200", // without an end
                "0d0a0d0a 00 0d0a \"QUIT\" 0a 11 11 000c 01020304 05060708 0009 000a", // of version 1 in the form of 2
                "0d0a0d0a 00 0d0a \"QUIT\" 0a 21 11 0004 01020304", // less than two addresses
                "\"GET\" 20 2f 20 \"HTTP\" 2f \"1.1\" 0d0a",
                GREETING + "04 1a 05 \"READY\" 0b \"Socket-Type\" 00*3 04 \"PAIR\" / 00 3e 61*62" // no PROXY header
            })
    void aBrokenHaproxyHeaderFailsTheHandshakeOnce(String header) {
        try (ScriptedPeer peer = new ScriptedPeer(new HAProxyMessageDecoder(), dealer())) {
            ChannelFuture held = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("held"));
            peer.send(header);
            peer.channel.runPendingTasks();
            Throwable cause = peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
            assertThat(cause).isInstanceOf(HAProxyProtocolException.class);
            assertThat(held.cause()).isSameAs(cause);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.messages).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aReadWithinAReadKeepsTheOrderOfBytes() {
        ScriptedPeer[] self = new ScriptedPeer[1];
        ChannelInboundHandlerAdapter greedy = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                self[0].send("00 01 63");
                ctx.fireUserEventTriggered(evt);
            }
        };
        try (ScriptedPeer peer = new ScriptedPeer(dealer(), greedy)) {
            self[0] = peer;
            peer.send(HANDSHAKE + "00 01 61 00 01 62");
            assertThat(peer.all.get(0)).isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).containsExactly(message("a"), message("b"), message("c"));
        }
    }

    @Test
    void writesInChannelActiveAreHeld() {
        EmbeddedChannel channel = new EmbeddedChannel(dealer(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8("hi"));
            }
        });
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of(SIGNATURE));
        assertThat(channel.outboundMessages()).isEmpty();
        channel.writeInbound(Hex.buffer("01 00"));
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of("03 00 \"hi\""));
        channel.finishAndReleaseAll();
    }

    /** As the local transport does, whose peer may have sent its whole handshake already. */
    @Test
    void handlersAddedAfterTheCodecMissNothingOfATransportThatAnswersAtOnce() {
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            private ByteBuf answer = Hex.buffer(GREETING + ready("DEALER"));

            @Override
            public void read(ChannelHandlerContext ctx) {
                if (answer != null) {
                    ByteBuf bytes = answer;
                    answer = null;
                    ctx.fireChannelRead(bytes);
                }
            }
        };
        Recorder<Object> recorder = Recorder.ofAll();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(transport, ZMTPCodec.of(ROUTER), recorder);
        channel.runPendingTasks();
        assertThat(recorder.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        channel.finishAndReleaseAll();
    }
}
