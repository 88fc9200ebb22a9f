package dev.zmtp.internal.socket.publish;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which peer pays when there are too many topics. */
class TopicSharesTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final RecordedOwner owner = new RecordedOwner(
            ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUB), clock.eventLoop(), () -> 1));
    private final TopicShares shares = new TopicShares();
    private final Peer many = owner.newPeer(null);
    private final Peer few = owner.newPeer(null);

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    private void add(Peer peer, int topics) {
        for (int i = 0; i < topics; i++) {
            shares.add(peer, 10);
        }
    }

    @Test
    void eachTopicCountsItsBytesAndAFixedNumber() {
        add(many, 3);
        shares.remove(many, 10);

        assertThat(shares.of(many)).isEqualTo(new TopicShares.Share(2, 2 * (10 + TopicShares.PER_TOPIC)));
        assertThat(shares.of(few)).isEqualTo(TopicShares.Share.NONE);
    }

    @Test
    void thePeerThatHasManyTopicsPaysForOneThatHasFew() {
        add(many, 100);
        add(few, 10);

        assertThat(shares.greaterThan(few, 10)).isSameAs(many);
        assertThat(shares.greaterThan(owner.newPeer(null), 10)).isSameAs(many);
    }

    @Test
    void aPeerThatHasAboutTheMostPaysForItself() {
        add(many, 100);
        add(few, 90);

        assertThat(shares.greaterThan(many, 10)).isNull();
        assertThat(shares.greaterThan(few, 10)).isNull();
        assertThat(shares.greaterThan(owner.newPeer(null), 200_000)).isNull();
    }

    @Test
    void aPeerThatHasNoTopicsAnyMoreIsForgotten() {
        add(many, 100);
        add(few, 10);
        shares.removeAll(many);

        assertThat(shares.greaterThan(owner.newPeer(null), 10)).isSameAs(few);
        for (int i = 0; i < 10; i++) {
            shares.remove(few, 10);
        }
        assertThat(shares.greaterThan(owner.newPeer(null), 10)).isNull();
    }
}
