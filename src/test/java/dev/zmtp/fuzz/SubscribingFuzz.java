package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A SUB and an XSUB whose handles are opened and closed in any order, and publishers that come and go. What a publisher
 * is told of each subscriber, and of all together, is what the handles say, and each message goes where one wants it.
 */
public final class SubscribingFuzz {

    private static final int SLOTS = 2;
    private static final String[] TOPICS = {"", "a", "ab", "b", "abc"};

    private final Input input;
    private final SteppedLoop loop = new SteppedLoop();
    private final List<Subscriber> subscribers = new ArrayList<>();
    private final @Nullable Publisher[] publishers = new Publisher[SLOTS];

    private SubscribingFuzz(Input input) {
        this.input = input;
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> new SubscribingFuzz(new Input(bytes)).run());
    }

    private void run() {
        subscribers.add(new Subscriber(ZMTPSocketType.SUB));
        subscribers.add(new Subscriber(ZMTPSocketType.XSUB));
        while (!input.isEmpty()) {
            act();
            loop.run();
            for (Publisher publisher : publishers) {
                if (publisher != null) {
                    publisher.check();
                }
            }
        }
        loop.end();
    }

    private void act() {
        Subscriber subscriber = subscribers.get(input.choice(subscribers.size()));
        int slot = input.choice(SLOTS);
        Publisher publisher = publishers[slot];
        switch (input.choice(8)) {
            case 0, 1, 2 -> subscriber.subscribe(input.of(TOPICS));
            case 3, 4 -> subscriber.cancelOne();
            case 5 -> {
                if (publisher == null) {
                    publishers[slot] = new Publisher(slot);
                } else {
                    publishers[slot] = null;
                    loop.close(publisher.socket);
                }
            }
            case 6 -> subscriber.comeOrGo(slot);
            default -> {
                if (publisher != null) {
                    publish(publisher, slot, input.of(TOPICS) + input.of("", "c", "x"));
                }
            }
        }
    }

    /** An XSUB gets what its topics ask for and a SUB, too: an XPUB sends nothing else. */
    private void publish(Publisher publisher, int slot, String topic) {
        publisher.socket.sendOrDrop(
                ZMTPMessage.from(loop.ledger().buffer().writeBytes(topic.getBytes(StandardCharsets.UTF_8))));
        loop.run();
        for (Subscriber subscriber : subscribers) {
            boolean wanted = subscriber.connectors[slot] != null
                    && subscriber.topics().stream().anyMatch(topic::startsWith);
            FuzzFailure.unlessEqual(
                    subscriber.received, wanted ? List.of(topic) : List.of(), subscriber.type + " received");
            subscriber.received.clear();
        }
    }

    private static String text(ByteBuf bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private final class Subscriber {
        final ZMTPSocketType type;
        final ZMTPSocket socket;
        final @Nullable ZMTPEndpoint[] connectors = new ZMTPEndpoint[SLOTS];
        final List<String> received = new ArrayList<>();
        private final List<String> wanted = new ArrayList<>();
        private final List<ZMTPRegistration> handles = new ArrayList<>();
        private ZMTPRegistration last = () -> {};

        Subscriber(ZMTPSocketType type) {
            this.type = type;
            this.socket = loop.open(type, "", 1, message -> {});
            socket.onMessage((peer, message) -> {
                received.add(text(message.frame(0)));
                message.release();
            });
        }

        void subscribe(String topic) {
            ByteBuf bytes = Unpooled.copiedBuffer(topic, StandardCharsets.UTF_8);
            handles.add(socket.subscribe(bytes));
            bytes.setZero(0, bytes.capacity()); // it was copied
            wanted.add(topic);
        }

        /** Each handle counts once, however often it is closed. */
        void cancelOne() {
            if (input.choice(4) == 0 || handles.isEmpty()) {
                last.close();
                return;
            }
            int i = input.oneByte() % handles.size();
            wanted.remove(i);
            last = handles.remove(i);
            last.close();
        }

        void comeOrGo(int slot) {
            ZMTPEndpoint connector = connectors[slot];
            if (connector == null) {
                connectors[slot] = socket.connect("inproc://publisher" + slot);
            } else if (input.choice(2) == 0) {
                connectors[slot] = null;
                connector.close();
            } else {
                TestSockets.peerOf(connector).close();
                loop.run();
                connector.retryNow();
            }
        }

        Set<String> topics() {
            return new TreeSet<>(wanted);
        }
    }

    private final class Publisher {
        final ZMTPSocket socket;
        private final int slot;
        private final Map<ZMTPPeer, Set<String>> each = new HashMap<>();
        private final Set<String> all = new TreeSet<>();

        Publisher(int slot) {
            this.slot = slot;
            this.socket = loop.open(input.of(ZMTPSocketType.XPUB, ZMTPSocketType.PUB), "", 1, message -> {});
            socket.onEverySubscription(this::heardOfOne);
            socket.onSubscription((peer, subscription) -> heardOf(all, subscription));
            socket.bind("inproc://publisher" + slot);
        }

        private void heardOfOne(ZMTPPeer peer, ZMTPSubscription subscription) {
            Set<String> its = each.computeIfAbsent(peer, p -> new TreeSet<>());
            heardOf(its, subscription);
            if (its.isEmpty()) {
                each.remove(peer);
            }
        }

        private static void heardOf(Set<String> topics, ZMTPSubscription subscription) {
            boolean news = subscription.isSubscribe()
                    ? topics.add(subscription.topicUTF8())
                    : topics.remove(subscription.topicUTF8());
            FuzzFailure.unless(news, "heard twice", subscription);
        }

        void check() {
            List<Set<String>> expected = new ArrayList<>();
            Set<String> together = new TreeSet<>();
            for (Subscriber subscriber : subscribers) {
                if (subscriber.connectors[slot] != null && !subscriber.topics().isEmpty()) {
                    expected.add(subscriber.topics());
                    together.addAll(subscriber.topics());
                }
            }
            List<Set<String>> heard = new ArrayList<>(each.values());
            FuzzFailure.unlessEqual(sorted(heard), sorted(expected), "what each wants");
            FuzzFailure.unlessEqual(all, together, "what all want");
            CompletableFuture<Void> counted = socket.whenPeers(expected.size());
            loop.run();
            FuzzFailure.unlessEqual(counted.isDone(), true, "subscribers");
        }

        private static List<String> sorted(List<Set<String>> sets) {
            return sets.stream().map(Set::toString).sorted().toList();
        }
    }
}
