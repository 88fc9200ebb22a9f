package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.MALFORMED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import io.netty.util.ReferenceCountUtil;
import java.util.Collection;

/** A rule for the messages that peers have sent. Each socket has one, which is used on its event loop. */
public abstract class Reception {

    /** Takes the message over. */
    public abstract void received(Peer from, ZMTPMessage message);

    /** Called when the application asks for the first time, with the peers that there are. */
    public void asks(Collection<Peer> there) {}

    /** Drops what the pattern does not allow. */
    public static void malformed(Peer from, ZMTPMessage message) {
        from.counters().add(MALFORMED, 1);
        ReferenceCountUtil.safeRelease(message);
    }
}
