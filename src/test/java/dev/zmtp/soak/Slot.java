package dev.zmtp.soak;

import dev.zmtp.shm.SharedMemoryChannel;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Random;

/** A place for one link after the other. Runs in a thread of its own. */
final class Slot implements Runnable {

    /** A link on which nothing happens for so long hangs. */
    static final Duration PATIENCE = Duration.ofSeconds(150);

    private static final int CLOSE_SECONDS = 30;
    private static final int PROXY_SECONDS = 2;

    private final Round round;
    private final int number;
    private final Implementation kind;

    Slot(Round round, int number, Implementation kind) {
        this.round = round;
        this.number = number;
        this.kind = kind;
    }

    @Override
    public void run() {
        try {
            for (int turn = 0; !round.isOver(); turn++) {
                link(turn);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Throwable e) { // a peer that fails in an unforeseen way must not go unnoticed
            round.failed("slot " + number + " of " + kind, e);
        }
    }

    private void link(int turn) throws InterruptedException {
        Plan plan = round.plan(number, turn, kind);
        Link link = round.newLink(number + "-" + turn, plan);
        Random shape = Plan.random(~round.seed(), number, turn);
        if (kind.hasSocket()) {
            throughProxy(link, shape);
        } else {
            throughMemory(link, shape);
        }
        link.finish(CLOSE_SECONDS);
        round.forget(link);
    }

    private void throughMemory(Link link, Random shape) throws InterruptedException {
        Channel listener = round.listenFor(link);
        try {
            CodecPeer.converse(
                    round.peerLoops(), link, SharedMemoryChannel.class, listener.localAddress(), round.totals(), shape);
        } finally {
            listener.close().sync();
        }
    }

    private void throughProxy(Link link, Random shape) throws InterruptedException {
        Proxy proxy = round.newProxy(link, shape.nextLong());
        try {
            if (kind.isOurs()) {
                InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.port());
                CodecPeer.converse(round.peerLoops(), link, NioSocketChannel.class, address, round.totals(), shape);
            } else {
                ForeignPeer.converse(link, proxy.port(), round.hasBudget(), round.totals(), shape);
            }
            if (!link.isBroken()) {
                proxy.awaitEnd(PROXY_SECONDS); // by themselves, if they can
            }
        } finally {
            proxy.close();
        }
        round.totals().add("connections through proxies", kind, proxy.connections());
        round.totals().add("connections on which the peer never spoke", kind, proxy.mute());
    }
}
