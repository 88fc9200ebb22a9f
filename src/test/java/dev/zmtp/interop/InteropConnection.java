package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.ChannelHandler;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.params.provider.Arguments;

/** One connection between our codec and a socket of another implementation. */
final class InteropConnection implements AutoCloseable {

    /** The side that listens; the other one connects. */
    enum Binder {
        WE,
        THEY
    }

    /** Each other implementation, with each side listening. */
    static List<Arguments> everyPeerAndBinder() {
        return Every.combinationOf(PeerKind.values(), Binder.values());
    }

    /** How many peers may stay mute before that is a failure. */
    private static final int MUTE_PEERS = 5;

    private static final AtomicBoolean REPLACED = new AtomicBoolean();

    private final OurSide ourSide;
    private final OurEnd ours;
    private PeerContext peer;
    private PeerSocket theirs;

    /** Connects over TCP; the handshake may still be under way. {@code settings} come before anything is sent. */
    InteropConnection(
            PeerKind kind,
            Binder binder,
            ZMTPConfig config,
            ZMTPSocketType theirType,
            Consumer<PeerSocket> settings,
            ChannelHandler... front) {
        this(kind, binder, TestTransport.NIO, Endpoints.loopback(0), config, theirType, settings, front);
    }

    /** As the other, over {@code transport}; one side listens on {@code address}. */
    InteropConnection(
            PeerKind kind,
            Binder binder,
            TestTransport transport,
            SocketAddress address,
            ZMTPConfig config,
            ZMTPSocketType theirType,
            Consumer<PeerSocket> settings,
            ChannelHandler... front) {
        ourSide = new OurSide(transport);
        peer = kind.open();
        boolean connected = false;
        try {
            theirs = socket(theirType, settings);
            if (binder == Binder.THEY) {
                String endpoint = theirs.bind(Endpoints.of(address));
                ours = ourSide.connect(Endpoints.bound(address, endpoint), config, front);
            } else {
                String endpoint = Endpoints.of(ourSide.listen(address, config, front));
                theirs.connect(endpoint);
                // A JeroMQ that connects stays mute now and then, for good (zeromq/jeromq, pull request 1022). Others
                // are only slow.
                OurEnd accepted = ourSide.accept(kind == PeerKind.JEROMQ ? Patience.MUTE : Patience.LIMIT);
                for (int i = 1; accepted == null && i < MUTE_PEERS; i++) {
                    reportReplacement(kind);
                    peer.close();
                    ourSide.forgetAccepted(); // the peer may have spoken just before
                    peer = kind.open();
                    theirs = socket(theirType, settings);
                    theirs.connect(endpoint);
                    accepted = ourSide.accept(Patience.MUTE);
                }
                ours = accepted != null ? accepted : ourSide.accept();
            }
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    /** Once, as a fault of theirs; but if it were ours, somebody should see it. */
    @SuppressWarnings("SystemOut")
    private static void reportReplacement(PeerKind kind) {
        if (REPLACED.getAndSet(true)) {
            return;
        }
        System.out.println("A " + kind + " that connects said nothing for " + Patience.MUTE
                + ": replaced by another (this is printed once; after " + MUTE_PEERS + " of them the test fails).");
    }

    private PeerSocket socket(ZMTPSocketType type, Consumer<PeerSocket> settings) {
        PeerSocket socket = peer.socket(type);
        settings.accept(socket);
        return socket;
    }

    /** As the other, with default settings for both, but these types. */
    static InteropConnection of(PeerKind kind, Binder binder, ZMTPSocketType ourType, ZMTPSocketType theirType) {
        return new InteropConnection(
                kind, binder, ZMTPConfig.builder().socketType(ourType).build(), theirType, socket -> {});
    }

    OurEnd ours() {
        return ours;
    }

    PeerSocket theirs() {
        return theirs;
    }

    PeerContext peer() {
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
