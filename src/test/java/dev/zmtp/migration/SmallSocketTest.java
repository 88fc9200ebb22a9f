package dev.zmtp.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import io.netty.util.CharsetUtil;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The small socket as a ROUTER among DEALERs, run on loopback. */
class SmallSocketTest {

    private final EventLoopGroup group = EventLoops.newGroup(2);
    private final SmallSocket router = new SmallSocket(group, ZMTPSocketType.ROUTER, "");
    private final SmallSocket alice = new SmallSocket(group, ZMTPSocketType.DEALER, "alice");
    private final SmallSocket bob = new SmallSocket(group, ZMTPSocketType.DEALER, "bob");

    @BeforeEach
    void connect() throws Exception {
        SocketAddress address = router.bind();
        alice.connect(address);
        session(alice);
        session(router);
        bob.connect(address);
        session(bob);
        session(router);
    }

    @AfterEach
    void shutDown() {
        router.close();
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void aRouterReceivesMessagesPrefixedWithTheSendersIdentity() throws Exception {
        assertThat(alice.send(ZMTPMessage.fromUTF8("", "from alice"))).isTrue();

        assertThat(texts(router)).containsExactly("alice", "", "from alice");
    }

    @Test
    void aRouterSendsToThePeerNamedByTheFirstFrame() throws Exception {
        assertThat(router.send(ZMTPMessage.fromUTF8("bob", "", "to bob"))).isTrue();
        assertThat(router.send(ZMTPMessage.fromUTF8("alice", "", "to alice"))).isTrue();

        assertThat(texts(alice)).containsExactly("", "to alice");
        assertThat(texts(bob)).containsExactly("", "to bob");
        assertThat(alice.received).isEmpty();
        assertThat(bob.received).isEmpty();
    }

    @Test
    void aMessageForAnUnknownPeerIsReleased() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("carol", "", "to carol");

        assertThat(router.send(message)).isFalse();

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void anAnonymousPeerIsAddressedByItsGeneratedIdentity() throws Exception {
        SmallSocket nobody = new SmallSocket(group, ZMTPSocketType.DEALER, "");
        nobody.connect(router.bind());
        session(nobody);
        ZMTPSession session = session(router);
        assertThat(session.isPeerAnonymous()).isTrue();
        assertThat(session.peerIdentity().remaining()).isEqualTo(9);
        assertThat(router.identities()).hasSize(3).contains(session.peerIdentity());

        nobody.send(ZMTPMessage.fromUTF8("question"));
        ZMTPMessage question = router.received.poll(10, TimeUnit.SECONDS);
        ZMTPMessage body = question.pop();
        ZMTPMessage reply = body.push(question.frame(0).retain());
        body.release();
        question.release();
        assertThat(router.send(reply)).isTrue();

        assertThat(texts(nobody)).containsExactly("question");
    }

    private static ZMTPSession session(SmallSocket socket) throws InterruptedException {
        ZMTPSession session = socket.sessions.poll(10, TimeUnit.SECONDS);
        assertThat(session).isNotNull();
        return session;
    }

    private static String[] texts(SmallSocket socket) throws InterruptedException {
        ZMTPMessage message = socket.received.poll(10, TimeUnit.SECONDS);
        assertThat(message).isNotNull();
        String[] texts = new String[message.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = message.frame(i).toString(CharsetUtil.UTF_8);
        }
        message.release();
        return texts;
    }
}
