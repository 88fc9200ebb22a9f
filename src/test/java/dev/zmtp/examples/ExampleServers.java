package dev.zmtp.examples;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;

/** The servers of the examples, for tests in other packages. */
public final class ExampleServers {

    private ExampleServers() {}

    /** The handler of {@link EchoRouter}, for one channel. */
    public static ChannelHandler echo() {
        return new EchoRouter.Echo();
    }

    /** A running publisher of {@link PubSub}. */
    public static final class RunningPublisher {
        private final PubSub.Publisher publisher;
        private final Channel server;

        /** Binds a publisher to {@code address}. */
        public RunningPublisher(EventLoop loop, SocketAddress address) throws InterruptedException {
            publisher = new PubSub.Publisher(loop, subscription -> {});
            server = publisher.bind(address).sync().channel();
        }

        /** The channel that listens. */
        public Channel server() {
            return server;
        }

        /** Publishes {@code message}, and releases it. */
        public void publish(ZMTPMessage message) {
            publisher.publish(message);
        }
    }
}
