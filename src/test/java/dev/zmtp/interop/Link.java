package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.channel.ChannelHandler;
import java.util.function.Consumer;

/** One connection over TCP between our codec and a socket of another implementation. */
final class Link implements AutoCloseable {

    /** Who listens; the other one connects. */
    enum Binder {
        WE,
        THEY
    }

    private final OurSide ourSide;
    private final Peer peer;
    private final PeerSocket theirs;
    private final OurEnd ours;

    /** Connects; the handshake may still be under way. {@code settings} come before anything is sent. */
    Link(
            PeerKind kind,
            Binder binder,
            ZMTPConfig config,
            ZMTPSocketType theirType,
            Consumer<PeerSocket> settings,
            ChannelHandler... front) {
        peer = kind.open();
        ourSide = new OurSide();
        boolean connected = false;
        try {
            theirs = peer.socket(theirType);
            settings.accept(theirs);
            if (binder == Binder.WE) {
                theirs.connect(ourSide.listen(config, front));
                ours = ourSide.accept();
            } else {
                ours = ourSide.connect(theirs.bind(), config, front);
            }
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    /** As the other, with default settings for both, but these types. */
    static Link of(PeerKind kind, Binder binder, ZMTPSocketType ourType, ZMTPSocketType theirType) {
        return new Link(kind, binder, ZMTPConfig.builder().socketType(ourType).build(), theirType, socket -> {});
    }

    OurEnd ours() {
        return ours;
    }

    PeerSocket theirs() {
        return theirs;
    }

    Peer peer() {
        return peer;
    }

    /** The next that our codec fired, which must be a subscription that the peer's socket sends by itself. */
    ZMTPSubscription subscription() {
        long deadline = Patience.deadline();
        Object fired = null;
        while (fired == null && !Patience.isOver(deadline)) {
            theirs.pump();
            fired = ours.next(Patience.RETRY);
        }
        assertThat(fired).isInstanceOf(ZMTPSubscription.class);
        return (ZMTPSubscription) fired;
    }

    @Override
    public void close() {
        try {
            ourSide.close();
        } finally {
            peer.close();
        }
    }
}
