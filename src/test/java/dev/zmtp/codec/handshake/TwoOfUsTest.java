package dev.zmtp.codec.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.CodecPair;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two of our own codecs, joined: every pair of socket types that may talk, in every pair of versions. */
class TwoOfUsTest {

    static List<Arguments> everyLegalPairInEveryVersion() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType left : ZMTPSocketType.values()) {
            for (ZMTPSocketType right : ZMTPSocketType.values()) {
                for (ZMTPVersion ours : ZMTPVersion.values()) {
                    for (ZMTPVersion theirs : ZMTPVersion.values()) {
                        boolean tooOld = left.isDraft() && !(ours.hasCommands() && theirs.hasCommands());
                        if (left.accepts(right) && !tooOld) {
                            all.add(Arguments.of(left, ours, right, theirs));
                        }
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0} of {1} with {2} of {3}")
    @MethodSource("everyLegalPairInEveryVersion")
    void everyLegalPairNegotiatesTheOlderVersionAndExchangesMessages(
            ZMTPSocketType leftType, ZMTPVersion leftVersion, ZMTPSocketType rightType, ZMTPVersion rightVersion) {
        ZMTPCodec left = codec(leftType, leftVersion);
        ZMTPCodec right = codec(rightType, rightVersion);
        try (CodecPair peers = new CodecPair(left, right).exchange()) {
            ZMTPVersion older = leftVersion.compareTo(rightVersion) < 0 ? leftVersion : rightVersion;
            assertThat(left.session().negotiatedVersion()).isEqualTo(older);
            assertThat(right.session().negotiatedVersion()).isEqualTo(older);
            assertThat(peers.left.events).hasSize(1).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.right.events).hasSize(1).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            if (older != ZMTPVersion.ZMTP10 && !leftType.name().startsWith("X")) {
                assertThat(right.session().handshakeFuture().getNow().remoteSocketType())
                        .isEqualTo(leftType);
            }

            peers.right.messages.clear(); // the subscription that a 1.0 peer cannot send
            ZMTPMessage sent = ZMTPMessage.fromUTF8("AB", "", "c".repeat(300));
            peers.left.channel.writeAndFlush(sent.retain());
            peers.exchange();

            if (rightType.isSendOnly()) {
                assertThat(peers.right.messages).isEmpty();
            } else {
                assertThat(peers.right.messages).containsExactly(sent);
                ((ZMTPMessage) peers.right.messages.get(0)).release();
            }
            assertThat(peers.left.failures).isEmpty();
            assertThat(peers.right.failures).isEmpty();
            sent.release();
        }
    }

    private static ZMTPCodec codec(ZMTPSocketType type, ZMTPVersion version) {
        return ZMTPCodec.builder()
                .socketType(type)
                .protocol(version)
                .localIdentity(type.name().toLowerCase(java.util.Locale.ROOT))
                .build();
    }
}
