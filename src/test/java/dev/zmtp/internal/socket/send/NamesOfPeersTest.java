package dev.zmtp.internal.socket.send;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHome;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The names that a ROUTER gives to the peers at an endpoint that it connects to. */
class NamesOfPeersTest {

    /** Begins as generated names do. RFC 28 forbids that, but a peer can announce it. */
    private static final String LIKE_GENERATED = "\0x";

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context = ClockedSockets.context(
            ZMTPSocketConfig.builder(ZMTPSocketType.ROUTER).build(), clock.eventLoop(), () -> 1);
    private final ByName names = new ByName(context);
    private final PeerHome home = mock();
    private final Peer peer = new RecordedOwner(context).newPeer(home);
    private final List<Peer> renamed = new ArrayList<>();

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    /** Returns why the peer with this identity is refused. */
    private String up(String identity) {
        names.beforeRename(renamed::add);
        ByteBuffer announced = ByteBuffer.wrap(identity.getBytes(ISO_8859_1));
        peer.info(new PeerInfo(announced, ZMTPSocketType.DEALER, null, null, null, null));
        return names.up(peer);
    }

    @Test
    void aPeerWithoutAnIdentityKeepsItsGeneratedName() {
        up("");
        byte[] name = peer.nameBytes();
        assertThat(name).hasSize(9);

        up("");

        assertThat(peer.nameBytes()).isEqualTo(name);
        assertThat(renamed).isEmpty();
    }

    @Test
    void anIdentityThatLooksGeneratedIsNotInheritedByAPeerWithoutOne() {
        up(LIKE_GENERATED);
        assertThat(peer.nameBytes()).containsExactly(0, 'x');

        up("");

        assertThat(peer.nameBytes()).hasSize(9);
        assertThat(renamed).containsExactly(peer);
    }

    @Test
    void aPeerWhoseIdentityLooksGeneratedGetsWhatIsQueuedWhenItsEndpointCloses() {
        up(LIKE_GENERATED);
        when(home.isClosing()).thenReturn(true);

        assertThat(up(LIKE_GENERATED)).isNull();
        assertThat(up("")).isEqualTo("another peer is at the endpoint");
    }
}
