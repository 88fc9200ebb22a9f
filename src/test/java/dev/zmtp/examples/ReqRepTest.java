package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The frames that {@link ReqRep} writes and reads. */
@Tag("netty-4.2-only")
@Timeout(60)
class ReqRepTest {

    private static ChannelHandler rep() {
        return adding(ZMTPCodec.of(REP), new ReqRep.Rep(name -> "Hello, " + name));
    }

    private static ChannelHandler adding(ChannelHandler... handlers) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handlers);
            }
        };
    }

    /** What a DEALER gets that sends {@code messages} to a REP. */
    private static List<String> answers(ZMTPMessage... messages) {
        try (CodecPair peers = new CodecPair(ZMTPCodec.of(DEALER), rep()).exchange()) {
            peers.left.channel.writeOutbound((Object[]) messages);
            return received(peers.exchange().left);
        }
    }

    private static List<String> received(CodecPair.Side side) {
        List<String> texts = new ArrayList<>();
        for (Object message : side.messages) {
            texts.add(message.toString());
            ReferenceCountUtil.release(message);
        }
        side.messages.clear();
        return texts;
    }

    @Test
    void aRepAnswersAReq() throws InterruptedException {
        List<String> answers = new ArrayList<>();
        try (EventLoops loops = new EventLoops(2)) {
            Channel server = ReqRep.bind(
                            loops.group(),
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            name -> "Hello, " + name)
                    .sync()
                    .channel();

            Channel client = ReqRep.connect(
                            loops.group(), server.localAddress(), List.of("Ada", "Grace", "Edith"), answers::add)
                    .sync()
                    .channel();

            assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(answers).containsExactly("Hello, Ada", "Hello, Grace", "Hello, Edith");
    }

    @Test
    void aRepSendsTheWholeEnvelopeBack() {
        assertThat(answers(ZMTPMessage.fromUTF8("proxy", "client", "", "Ada")))
                .containsExactly("ZMTPMessage{[\"proxy\",\"client\",\"\",\"Hello, Ada\"]}");
    }

    @Test
    void aQuestionWithoutAnEmptyFrameHasNoAnswer() {
        assertThat(answers(ZMTPMessage.fromUTF8("Ada"), ZMTPMessage.fromUTF8("", "Grace")))
                .containsExactly("ZMTPMessage{[\"\",\"Hello, Grace\"]}");
    }

    @Test
    void anEmptyFrameWithoutAQuestionHasNoAnswer() {
        assertThat(answers(ZMTPMessage.fromUTF8("client", ""))).isEmpty();
    }

    @Test
    void aReqSendsAnEmptyFrameFirstAndAsksOneQuestionAtATime() {
        ChannelHandler req = adding(ZMTPCodec.of(REQ), new ReqRep.Req(List.of("Ada", "Grace"), answer -> {}));
        try (CodecPair peers = new CodecPair(req, ZMTPCodec.of(ROUTER)).exchange()) {
            assertThat(received(peers.right)).containsExactly("ZMTPMessage{[\"\",\"Ada\"]}");

            peers.right.channel.writeOutbound(ZMTPMessage.fromUTF8("", "hello"));

            assertThat(received(peers.exchange().right)).containsExactly("ZMTPMessage{[\"\",\"Grace\"]}");
        }
    }

    @Test
    void aReqEndsTheConnectionThatBringsAnAnswerWithoutAnEmptyFrame() {
        List<String> answers = new ArrayList<>();
        ChannelHandler req = adding(ZMTPCodec.of(REQ), new ReqRep.Req(List.of("Ada"), answers::add));
        try (CodecPair peers = new CodecPair(req, ZMTPCodec.of(ROUTER)).exchange()) {
            received(peers.right);
            peers.right.channel.writeOutbound(ZMTPMessage.fromUTF8("hello"));
            peers.exchange();

            assertThat(answers).isEmpty();
            assertThat(peers.left.channel.isActive()).isFalse();
        }
    }
}
