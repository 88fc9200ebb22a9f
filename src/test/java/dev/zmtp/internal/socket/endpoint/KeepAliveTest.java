package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestTransport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeepAliveTest {

    private static final ZMTPSocketConfig DEFAULTS = ZMTPSocketConfig.of(PULL);

    /** The options of a channel of this kind that have to do with it, by their names without a class. */
    private static Map<String, Object> options(TestTransport transport, ZMTPSocketConfig config) {
        assumeTrue(transport.isRequired() || transport.refusal() == null);
        TestTransport.Kit kit = transport.kit(1);
        try {
            Channel channel = new Bootstrap()
                    .group(kit.group())
                    .channelFactory(kit.channel())
                    .handler(new ChannelInboundHandlerAdapter())
                    .register()
                    .syncUninterruptibly()
                    .channel();
            new KeepAlive(config, config.codec()).set(channel);
            Map<String, Object> found = new TreeMap<>();
            channel.config().getOptions().forEach((option, value) -> {
                if (option.name().contains("KEEP")) {
                    found.put(option.name().replaceFirst(".*#", ""), value);
                }
            });
            channel.close().syncUninterruptibly();
            return found;
        } finally {
            kit.group().shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    @Tag("netty-4.2-only")
    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL", "IO_URING"})
    void aConnectionOfTcpIsProbedWhenAPingWouldBeDueAndForTheTimeout(TestTransport transport) {
        Map<String, Object> options = options(transport, DEFAULTS);

        assertThat(options).containsEntry("SO_KEEPALIVE", true).containsEntry("TCP_KEEPIDLE", 30);
        assertThat(options.values()).contains(15, 3);
    }

    @Test
    void timesBelowASecondAreASecond() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(PULL)
                .codec(codec ->
                        codec.heartbeatInterval(Duration.ofMillis(200)).heartbeatTimeout(Duration.ofMillis(300)))
                .build();

        assertThat(options(TestTransport.NIO, config)).containsEntry("TCP_KEEPIDLE", 1);
    }

    @Test
    void withoutHeartbeatsItIsLeftAlone() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(PULL)
                .codec(codec -> codec.heartbeatInterval(Duration.ZERO)
                        .heartbeatTimeout(Duration.ZERO)
                        .heartbeatZMTP30Peers(false))
                .build();

        assertThat(options(TestTransport.NIO, config)).containsEntry("SO_KEEPALIVE", false);
    }

    @Test
    void whatTheUserHasSetStays() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(PULL)
                .option(ChannelOption.SO_KEEPALIVE, false)
                .build();

        assertThat(options(TestTransport.NIO, config)).containsEntry("SO_KEEPALIVE", false);
    }

    @Test
    void channelsOfOtherTransportsHaveNone() {
        EmbeddedChannel channel = new EmbeddedChannel();

        new KeepAlive(DEFAULTS, DEFAULTS.codec()).set(channel);

        assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isNull();
    }
}
