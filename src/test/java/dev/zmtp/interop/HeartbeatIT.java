package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.interop.InteropConnection.Binder;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** PING and PONG, both ways; and a peer that has fallen silent. */
class HeartbeatIT {

    private static final Duration INTERVAL = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int SOME = 5;

    private static final ZMTPMessage MESSAGE = Messages.of("still", "there?");

    private static final ZMTPConfig QUIET =
            ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();

    @ParameterizedTest
    @EnumSource
    void theyKeepTheConnectionBecauseTheirPingsAreAnswered(PeerKind kind) {
        Duration timeout = Duration.ofMillis(1_500);
        int longerThanTheTimeout = (int) (timeout.dividedBy(INTERVAL) * 5 / 4);
        Tap tap = new Tap();
        try (InteropConnection link = new InteropConnection(
                kind,
                Binder.WE,
                QUIET,
                ZMTPSocketType.DEALER,
                socket -> socket.heartbeat(INTERVAL, timeout, LONG),
                tap)) {
            link.ours().handshake();
            tap.await(() -> tap.received("PING") >= longerThanTheTimeout && tap.sent("PONG") >= longerThanTheTimeout);

            talk(link);
        }
    }

    @Test
    void ourPingsAreAnsweredByLibzmq() {
        Tap tap = new Tap();
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(LONG)
                .heartbeatTtl(LONG)
                .build();
        try (InteropConnection link =
                new InteropConnection(PeerKind.LIBZMQ, Binder.THEY, config, ZMTPSocketType.DEALER, socket -> {}, tap)) {
            link.ours().handshake();
            tap.await(() -> tap.sent("PING") >= SOME && tap.received("PONG") >= SOME);

            talk(link);
        }
    }

    @Test
    void aPeerOfZmtp30IsPingedOnRequestAndAnswers() {
        Tap tap = new Tap();
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(LONG)
                .heartbeatZMTP30Peers(true)
                .build();
        try (InteropConnection link =
                new InteropConnection(PeerKind.JEROMQ, Binder.THEY, config, ZMTPSocketType.DEALER, socket -> {}, tap)) {
            link.ours().handshake();
            assertThat(link.ours().session().negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP30);
            tap.await(() -> tap.sent("PING") >= SOME && tap.received("PONG") >= SOME);

            talk(link);
        }
    }

    @Test
    void aPeerOfZmtp30GetsNoPings() throws InterruptedException {
        Tap tap = new Tap();
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(INTERVAL)
                .build();
        try (InteropConnection link =
                new InteropConnection(PeerKind.JEROMQ, Binder.THEY, config, ZMTPSocketType.DEALER, socket -> {}, tap)) {
            link.ours().handshake();
            long severalIntervals = INTERVAL.toMillis() * SOME;
            link.ours()
                    .channel()
                    .eventLoop()
                    .schedule(() -> {}, severalIntervals, TimeUnit.MILLISECONDS)
                    .sync();

            assertThat(tap.sent("PING")).isZero();
            talk(link);
        }
    }

    @Test
    void bothSidesMaySendHeartbeats() {
        Tap tap = new Tap();
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(LONG)
                .build();
        try (InteropConnection link = new InteropConnection(
                PeerKind.LIBZMQ,
                Binder.WE,
                config,
                ZMTPSocketType.DEALER,
                socket -> socket.heartbeat(INTERVAL, LONG, LONG),
                tap)) {
            link.ours().handshake();
            tap.await(() -> tap.sent("PONG") >= SOME && tap.received("PONG") >= SOME);

            talk(link);
        }
    }

    @Test
    void aPeerThatDoesNotAnswerOurPingIsDisconnected() throws IOException {
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(INTERVAL)
                .build();
        try (OurSide ourSide = new OurSide();
                RawPeer peer = new RawPeer(ourSide.listen(config))) {
            peer.say(RawPeer.DEALER_OF_31);
            OurEnd ours = ourSide.accept();
            ours.handshake();

            assertThat(ours.next(ZMTPException.class).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(ours.next(String.class)).isEqualTo(OurEnd.CLOSED);
            assertThat(peer.hearToTheEnd()).contains("\4PING");
        }
    }

    @Test
    void aPeerSilentForItsOwnTtlIsDisconnected() throws IOException {
        try (OurSide ourSide = new OurSide();
                RawPeer peer = new RawPeer(ourSide.listen(QUIET))) {
            peer.say(RawPeer.DEALER_OF_31);
            peer.say("04 07 / 04 \"PING\" 00 01  # TTL of a tenth of a second");
            OurEnd ours = ourSide.accept();
            ours.handshake();

            assertThat(ours.next(ZMTPException.class).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(ours.next(String.class)).isEqualTo(OurEnd.CLOSED);
            assertThat(peer.hearToTheEnd()).contains("\4PONG");
        }
    }

    // Peers that read slowly, or not at all

    private static final Duration HALF_A_SECOND = Duration.ofMillis(500);

    /** Keeps more on its way than the high water mark, so that the channel is unwritable all the time. */
    private static void keepUnwritable(Channel channel) {
        channel.eventLoop().execute(() -> {
            for (int i = 0; i < 32; i++) {
                writeAgainAndAgain(channel);
            }
            channel.flush();
        });
    }

    private static void writeAgainAndAgain(Channel channel) {
        channel.write(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[8192]))).addListener(write -> {
            if (write.isSuccess()) {
                writeAgainAndAgain(channel);
                channel.flush();
            }
        });
    }

    @Test
    void aPeerThatReadsSlowlyButReadsIsNotDisconnected() throws Exception {
        ZMTPConfig config = QUIET.toBuilder()
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(HALF_A_SECOND)
                .build();
        try (OurSide ourSide = new OurSide();
                RawPeer peer = new RawPeer(ourSide.listen(config), 16_384)) {
            peer.say(RawPeer.DEALER_OF_31);
            OurEnd ours = ourSide.accept();
            ours.handshake();
            // Linux reports room when a third of its send buffer is free: here, after about two of the reads below.
            ours.channel().config().setOption(ChannelOption.SO_SNDBUF, 16_384);
            keepUnwritable(ours.channel());
            EventExecutor clock = ours.channel().eventLoop();
            for (int i = 0; i < 100; i++) {
                peer.hear(16_384);
                clock.schedule(() -> {}, 15, TimeUnit.MILLISECONDS).sync();
            }
            assertThat(ours.next(Duration.ZERO)).isNull();

            // From here on it reads nothing, but its kernel answers.
            clock.schedule(() -> {}, 3 * HALF_A_SECOND.toMillis(), TimeUnit.MILLISECONDS)
                    .sync();
            assertThat(ours.next(Duration.ZERO)).isNull();
        }
    }

    @Test
    void aDeadPeerIsFoundInTimeThoughTheKernelTakesWhatWeSend() throws IOException {
        ZMTPConfig config = QUIET.toBuilder().heartbeatInterval(HALF_A_SECOND).build();
        try (OurSide ourSide = new OurSide();
                RawPeer peer = new RawPeer(ourSide.listen(config))) {
            peer.say(RawPeer.DEALER_OF_31);
            OurEnd ours = ourSide.accept();
            ours.handshake();
            Channel channel = ours.channel();
            AtomicInteger bursts = new AtomicInteger();
            Runnable burst = () -> {
                if (channel.isWritable()) {
                    bursts.incrementAndGet();
                    channel.writeAndFlush(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[100_000])));
                }
            };
            long afterThePing = HALF_A_SECOND.plusMillis(100).toMillis(); // which leaves before the peer is slow
            channel.eventLoop().scheduleAtFixedRate(burst, afterThePing, 50, TimeUnit.MILLISECONDS);

            assertThat(ours.next(ZMTPException.class).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(bursts).as("of about 20 in interval and timeout").hasValueLessThan(25);
        }
    }

    /** Both directions, with nothing but messages in between: the connection is the one that shook hands. */
    private static void talk(InteropConnection link) {
        link.ours().write(MESSAGE);
        assertThat(link.theirs().receive()).isEqualTo(MESSAGE);
        link.theirs().send(MESSAGE);
        assertThat(link.ours().message()).isEqualTo(MESSAGE);
    }
}
