package dev.zmtp.codec.transports;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.internal.websocket.ClientUpgrade;
import dev.zmtp.internal.websocket.ServerUpgrade;
import dev.zmtp.testing.TestTransport;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** WebSocket, on the transports that Netty 4.1 and 4.2 have. */
@Tag("T138")
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"NIO", "EPOLL"})
class WebSocketTransportsTest extends ConnectionContract {

    private static final String PATH = "/zmtp";

    WebSocketTransportsTest(TestTransport transport) {
        super(transport);
    }

    @Override
    void listen(ZMTPCodec codec, ChannelHandler... behind) throws InterruptedException {
        ChannelHandler upgrade =
                initializer(pipeline -> ServerUpgrade.addTo(pipeline, PATH, ZMTPWebSocket.DEFAULT, codec.session()));
        net().listen(all(upgrade, all(codec, behind)));
    }

    @Override
    Channel connect(ZMTPCodec codec, ChannelHandler... behind) throws InterruptedException {
        ChannelHandler upgrade = initializer(
                pipeline -> ClientUpgrade.addTo(pipeline, "localhost", PATH, ZMTPWebSocket.DEFAULT, codec.session()));
        return net().connect(all(upgrade, all(codec, behind)));
    }

    /** Returns a handler that adds others before the codec, which is added next. */
    private static ChannelHandler initializer(Consumer<ChannelPipeline> others) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                others.accept(ch.pipeline());
            }
        };
    }
}
