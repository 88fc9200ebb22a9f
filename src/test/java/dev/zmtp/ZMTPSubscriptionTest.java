package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A subscription as a value, and which messages it asks for. */
class ZMTPSubscriptionTest {

    @Test
    void aSubscriptionSaysWhatItIs() {
        ZMTPSubscription subscribe = ZMTPSubscription.subscribe("\u20ac");
        ZMTPSubscription cancel = ZMTPSubscription.cancel("\u20ac");

        assertThat(subscribe.isSubscribe()).isTrue();
        assertThat(cancel.isSubscribe()).isFalse();
        assertThat(subscribe.topicUTF8()).isEqualTo("\u20ac");
        assertThat(Hex.dump(cancel.topic())).isEqualTo("e282ac");
    }

    @Test
    void theBytesOfATopicAreCopied() {
        ByteBuf topic = Hex.buffer("aa 00 ff").skipBytes(1);
        ZMTPSubscription subscribe = ZMTPSubscription.subscribe(topic);
        ZMTPSubscription cancel = ZMTPSubscription.cancel(topic);
        assertThat(topic.readableBytes()).isEqualTo(2);
        topic.setZero(0, 3);
        topic.release();

        assertThat(Hex.dump(subscribe.topic())).isEqualTo("00ff");
        assertThat(Hex.dump(cancel.topic())).isEqualTo("00ff");
    }

    @Test
    void theTopicCannotBeChanged() {
        ZMTPSubscription subscription = ZMTPSubscription.subscribe("AB");
        subscription.topic().skipBytes(2);

        assertThat(subscription.topic().isReadOnly()).isTrue();
        assertThat(subscription.topic().readableBytes()).isEqualTo(2);
    }

    @Test
    void subscriptionsToTheSameTopicAreEqual() {
        ByteBuf ab = Hex.buffer("41 42");
        ZMTPSubscription subscription = ZMTPSubscription.subscribe("AB");

        assertThat(subscription)
                .isEqualTo(ZMTPSubscription.subscribe(ab))
                .hasSameHashCodeAs(ZMTPSubscription.subscribe(ab))
                .isNotEqualTo(ZMTPSubscription.cancel(ab))
                .isNotEqualTo(ZMTPSubscription.subscribe("A"))
                .isNotEqualTo("AB");
        assertThat(subscription.hashCode())
                .isNotEqualTo(ZMTPSubscription.cancel("AB").hashCode())
                .isNotEqualTo(ZMTPSubscription.subscribe("AC").hashCode());
        ab.release();
    }

    @ParameterizedTest(name = "topic {0}, first frame {1}: {2}")
    @CsvSource({
        "'',    '',       true",
        "'',    41,       true",
        "41,    41,       true",
        "41,    41 42,    true",
        "41 42, 41,       false",
        "41 42, '',       false",
        "41 42, 41 43,    false",
        "42,    41 42,    false",
        "00 ff, 00 ff 00, true",
        "00,    30,       false"
    })
    void aTopicIsAPrefixOfTheFirstFrame(String topic, String frame, boolean matches) {
        ByteBuf prefix = Hex.buffer(topic);
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("aa " + frame).skipBytes(1), Hex.buffer("41 42"));

        assertThat(ZMTPSubscription.subscribe(prefix).matches(message)).isEqualTo(matches);
        assertThat(message.frame(0).readerIndex()).isOne();
        message.release();
        prefix.release();
    }

    @Test
    void aMessageWithoutFramesIsNotAskedFor() {
        ZMTPMessage message = ZMTPMessage.fromUTF8(List.of());

        assertThat(ZMTPSubscription.subscribe("").matches(message)).isFalse();
        message.release();
    }

    @Test
    void toStringIsSafeForAnyTopicAndBounded() {
        ByteBuf binary = Hex.buffer("0a 1b");

        assertThat(ZMTPSubscription.subscribe("AB")).hasToString("ZMTPSubscription{subscribe \"AB\"}");
        assertThat(ZMTPSubscription.cancel(binary)).hasToString("ZMTPSubscription{cancel 0x0a1b}");
        assertThat(ZMTPSubscription.cancel("t".repeat(1 << 20)).toString()).hasSizeLessThan(200);
        binary.release();
    }
}
