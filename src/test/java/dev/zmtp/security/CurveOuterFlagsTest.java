package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.ScriptedPeer;
import java.security.SecureRandom;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * The bytes of a CURVE peer that repeats the flags of a sealed frame outside of its box, as omq.rs does. Only those
 * inside count: nobody has authenticated the others.
 */
class CurveOuterFlagsTest {

    /** Makes every key and nonce of the server the same in each run, so that its peer's bytes are, too. */
    private static final class Fixed extends SecureRandom {
        private static final long serialVersionUID = 1L;

        @Override
        public void nextBytes(byte[] bytes) {
            Arrays.fill(bytes, (byte) 7);
        }
    }

    /** A connection to a client of type {@code theirs}, whose handshake is done. */
    private static ScriptedPeer connected(ZMTPSocketType ours, ZMTPSocketType theirs) {
        CurveForge client = new CurveForge();
        ZMTPCodec.Builder codec = client.server(ZMTPCodec.builder().socketType(ours))
                .mechanism(context -> new CurveServer(context, new Fixed(), CurveForge.SERVER));
        ScriptedPeer peer = new ScriptedPeer(codec.build());
        peer.send(ScriptedPeer.SIGNATURE + "03 01 \"CURVE\" 00*15 00 00*31");
        peer.channel.runPendingTasks();
        peer.send(client.hello());
        peer.channel.runPendingTasks();
        peer.send(client.initiate(peer.received(), CurveForge.metadata(theirs)));
        peer.channel.runPendingTasks();
        assertThat(peer.codec().session().handshakeFuture().isSuccess()).isTrue();
        peer.received();
        return peer;
    }

    @Test
    void moreOnTheOuterFrameOfAMessageIsIgnored() {
        try (ScriptedPeer peer = connected(ZMTPSocketType.ROUTER, ZMTPSocketType.DEALER)) {
            peer.send("""
                    01 26                                               # MORE, as in the box
                    07 "MESSAGE" 00*7 03                                # nonce
                    402db1fa8a8e14827025533aaf34e589                    # MAC
                    2f5ebac980a8                                        # MORE and "Hello"
                    00 26
                    07 "MESSAGE" 00*7 04
                    6badb7913e45e257a26fd0217e0ea187
                    a25ca489c882                                        # 0 and "World"
                    """);
            assertThat(peer.messages).containsExactly(Fired.message("Hello", "World"));
        }
    }

    @Test
    void commandOnTheOuterFrameOfASubscriptionIsIgnored() {
        try (ScriptedPeer peer = connected(ZMTPSocketType.PUB, ZMTPSocketType.SUB)) {
            peer.send("""
                    04 2c                                               # COMMAND, as in the box
                    07 "MESSAGE" 00*7 03                                # nonce
                    137833affd7b3968ce2ad34b97397a03                    # MAC
                    2c1f8cf0ae94ac42ac65c615                            # COMMAND and SUBSCRIBE to "A"
                    """);
            assertThat(peer.messages).containsExactly("subscribe 41");
        }
    }
}
