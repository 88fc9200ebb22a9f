package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.OwnHost;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of the questions of a {@link RequestClient}. */
@Tag("netty-4.2-only")
@Timeout(60)
class RequestClientTest {

    private static final String HOST = OwnHost.of(2);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final EventLoops loops = new EventLoops(2);
    private final BlockingQueue<Question> questions = new LinkedBlockingQueue<>();

    @AfterEach
    void stop() {
        loops.close();
    }

    /** What a server was asked, and has not answered. */
    private record Question(Channel connection, long number, String text) {

        void answer(String answer) {
            ByteBuf body = Unpooled.copiedBuffer(answer, UTF_8);
            connection.writeAndFlush(ZMTPMessage.from(Unpooled.copyLong(number), Unpooled.EMPTY_BUFFER, body));
        }
    }

    /** A ROUTER whose questions the test answers. */
    private Channel serve(int port) {
        return new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new SimpleChannelInboundHandler<ZMTPMessage>() {
                            @Override
                            protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
                                assertThat(message.size()).isEqualTo(3);
                                assertThat(message.frame(1).isReadable()).isFalse();
                                long number = message.frame(0).readLong();
                                questions.add(new Question(
                                        ctx.channel(), number, message.frame(2).toString(UTF_8)));
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(HOST, port))
                .syncUninterruptibly()
                .channel();
    }

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private RequestClient client(int port, Duration timeout, int window) {
        ReconnectingClient.Delays delays =
                new ReconnectingClient.Delays(Duration.ofMillis(1), Duration.ofMillis(20), Duration.ofSeconds(10));
        return new RequestClient(loops.group(), HOST, port, delays, timeout, window);
    }

    private Question next() throws InterruptedException {
        Question question = questions.poll(10, TimeUnit.SECONDS);
        assertThat(question).as("asked within 10 s").isNotNull();
        return question;
    }

    private static String get(CompletableFuture<String> answer) throws Exception {
        return answer.get(10, TimeUnit.SECONDS);
    }

    @Test
    void aRouterThatEchoesIsEnough() throws Exception {
        Channel router = EchoRouter.bind(loops.group(), NioServerSocketChannel.class, new InetSocketAddress(HOST, 0))
                .sync()
                .channel();
        try (RequestClient client = client(port(router), LONG, 10)) {
            List<CompletableFuture<String>> answers = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                answers.add(client.ask("question " + i));
            }
            for (int i = 0; i < 1_000; i++) {
                assertThat(get(answers.get(i))).isEqualTo("question " + i);
            }
        }
    }

    @Test
    void aRepAnswersToo() throws Exception {
        Channel rep = ReqRep.bind(loops.group(), new InetSocketAddress(HOST, 0), name -> "Hello, " + name)
                .sync()
                .channel();
        try (RequestClient client = client(port(rep), LONG, 10)) {
            assertThat(get(client.ask("Ada"))).isEqualTo("Hello, Ada");
        }
    }

    @Test
    void answersOutOfOrderFindTheirQuestions() throws Exception {
        try (RequestClient client = client(port(serve(0)), LONG, 10)) {
            CompletableFuture<String> first = client.ask("first");
            CompletableFuture<String> second = client.ask("second");
            Question one = next();
            Question two = next();

            two.answer("to the " + two.text());
            one.answer("to the " + one.text());

            assertThat(get(first)).isEqualTo("to the first");
            assertThat(get(second)).isEqualTo("to the second");
        }
    }

    @Test
    void aQuestionFailsAfterItsTimeout() {
        try (RequestClient client = client(port(serve(0)), SHORT, 10)) {
            assertThatThrownBy(() -> get(client.ask("lost")))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class)
                    .hasMessageContaining("no answer within PT0.05S");
        }
    }

    @Test
    void anAnswerAfterTheTimeoutReachesNobody() throws Exception {
        try (RequestClient client = client(port(serve(0)), Duration.ofSeconds(1), 1)) {
            CompletableFuture<String> late = client.ask("slow");
            Question slow = next();
            assertThatThrownBy(() -> get(late)).hasCauseInstanceOf(TimeoutException.class);
            CompletableFuture<String> quick = client.ask("quick");
            Question second = next();

            slow.answer("late");
            second.answer("in time");

            assertThat(get(quick)).isEqualTo("in time");
            assertThat(late).isCompletedExceptionally();
        }
    }

    @Test
    void aQuestionThatTimesOutMakesRoomInTheWindow() throws Exception {
        try (RequestClient client = client(port(serve(0)), Duration.ofSeconds(1), 1)) {
            CompletableFuture<String> lost = client.ask("lost");
            next();
            assertThatThrownBy(() -> get(lost)).hasCauseInstanceOf(TimeoutException.class);

            client.ask("next");

            assertThat(next().text()).isEqualTo("next");
        }
    }

    /** Ends the server and its connections, as the end of its process would. */
    private static void kill(Channel server, Channel connection) throws InterruptedException {
        OwnHost.close(server);
        connection.close().sync();
    }

    @Test
    void aServerThatIsStartedAgainIsAskedAgain() throws Exception {
        Channel server = serve(0);
        int port = port(server);
        try (RequestClient client = client(port, LONG, 10)) {
            CompletableFuture<String> first = client.ask("first");
            next().answer("one");
            assertThat(get(first)).isEqualTo("one");
            CompletableFuture<String> second = client.ask("second");
            kill(server, next().connection());

            serve(port);

            Question again = next();
            assertThat(again.text()).isEqualTo("second"); // and not the first, which has its answer
            again.answer("two");
            assertThat(get(second)).isEqualTo("two");
        }
    }

    @Test
    void questionsAreSentAgainInTheirOrder() throws Exception {
        Channel server = serve(0);
        int port = port(server);
        try (RequestClient client = client(port, LONG, 2)) {
            for (String text : new String[] {"a", "b", "c"}) {
                client.ask(text);
            }
            next();
            kill(server, next().connection());

            serve(port);

            Question first = next();
            assertThat(first.text()).isEqualTo("a");
            assertThat(next().text()).isEqualTo("b");
            first.answer("done");
            assertThat(next().text()).isEqualTo("c");
        }
    }

    @Test
    void aQuestionWaitsForAServer() throws Exception {
        Channel nobody = serve(0);
        int port = port(nobody);
        OwnHost.close(nobody);
        try (RequestClient client = client(port, LONG, 10)) {
            CompletableFuture<String> answer = client.ask("early");

            serve(port);

            next().answer("here");
            assertThat(get(answer)).isEqualTo("here");
        }
    }

    @Test
    void theServerHasNoMoreQuestionsThanTheWindowAllows() throws Exception {
        try (RequestClient client = client(port(serve(0)), LONG, 2)) {
            for (int i = 1; i <= 3; i++) {
                client.ask(Integer.toString(i));
            }
            next();
            Question second = next();
            assertThat(questions.poll(100, TimeUnit.MILLISECONDS)).isNull();

            second.answer("done");

            assertThat(next().text()).isEqualTo("3");
        }
    }

    @Test
    void aCloseFailsWhatIsNotAnswered() throws Exception {
        RequestClient client = client(port(serve(0)), LONG, 1);
        CompletableFuture<String> sent = client.ask("sent");
        CompletableFuture<String> waiting = client.ask("waiting");
        next();

        client.close();

        assertThatThrownBy(() -> get(sent)).hasCauseInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> get(waiting)).hasCauseInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> get(client.ask("late"))).hasCauseInstanceOf(ClosedChannelException.class);
    }
}
