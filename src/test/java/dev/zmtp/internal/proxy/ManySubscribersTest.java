package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A publisher whose subscribers are all behind one proxy, over a transport with a codec. */
class ManySubscribersTest {

    private static final String ANY = "tcp://127.0.0.1:*";

    private final List<ZMTPSocketEvent> ends = new CopyOnWriteArrayList<>();

    private ZMTPSocket publisher(TestSockets sockets, Consumer<ZMTPConfig.Builder> limits) {
        ZMTPSocket publisher = sockets.open(sockets.builder(PUB).codec(limits));
        publisher.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerDown) {
                ends.add(event);
            }
        });
        return publisher;
    }

    @ParameterizedTest
    @CsvSource({"4, 3000", "100, 300"})
    void eachGetsWhatItHasSubscribedTo(int subscribers, int own, TestSockets sockets) {
        ZMTPSocket publisher = publisher(sockets, codec -> codec.maxCommandsPerSecond(5_000));
        String origin = bind(publisher, ANY);
        ZMTPSocket backend = sockets.open(XSUB);
        ZMTPSocket frontend = sockets.open(XPUB);
        backend.connect(origin);
        String front = bind(frontend, ANY);
        ZMTPProxy.start(frontend, backend);

        List<ZMTPSocket> all = new ArrayList<>();
        for (int i = 0; i < subscribers; i++) {
            ZMTPSocket subscriber = sockets.open(SUB);
            for (int topic = 0; topic < own; topic++) {
                subscriber.subscribe(topic(i * own + topic));
            }
            subscriber.connect(front);
            all.add(subscriber);
        }

        for (int i = 0; i < subscribers; i++) {
            String last = topic(i * own + own - 1);
            ZMTPSocket subscriber = all.get(i);
            await("a message for " + i, () -> {
                publisher.sendOrDrop(message(last));
                return subscriber.stats().received() > 0;
            });
            assertThat(receive(subscriber).get(0)).endsWith(".");
        }
        assertThat(ends).isEmpty();

        all.forEach(ZMTPSocket::close);
        ZMTPSocket last = sockets.open(SUB);
        last.subscribe("last");
        last.connect(front);
        await("a message for one that comes later", () -> {
            publisher.sendOrDrop(message("last"));
            return last.stats().received() > 0;
        });
        await("all have left", () -> frontend.peers().size() == 1);
        settle(frontend);
        settle(backend);
        settle(publisher);
        assertThat(ends).isEmpty();
    }

    private static String topic(int number) {
        return number + ".";
    }
}
