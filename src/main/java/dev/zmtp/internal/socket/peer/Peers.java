package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.socket.context.Awaited;
import dev.zmtp.internal.socket.context.Completions;
import dev.zmtp.socket.ZMTPPeer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The peers of a socket, including disconnected peers that the socket connects to. */
public final class Peers {

    private final Set<Peer> all = ConcurrentHashMap.newKeySet();
    private final Awaited connected;

    public Peers(Completions completions) {
        this.connected = new Awaited(completions);
    }

    public Set<Peer> all() {
        return all;
    }

    /** Removes a peer that has no connection, and will have none. */
    public void removeIfForgotten(Peer peer) {
        if (peer.isForgotten()) {
            all.remove(peer);
        }
    }

    /** Returns the connected peers. */
    public List<ZMTPPeer> up() {
        return all.stream().filter(Peer::isUp).<ZMTPPeer>map(peer -> peer).toList();
    }

    public List<Peer> list() {
        return List.copyOf(all);
    }

    /** The number of connected peers, and the futures that wait for it. */
    public Awaited connected() {
        return connected;
    }
}
