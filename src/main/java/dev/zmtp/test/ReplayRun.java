package dev.zmtp.test;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.internal.capture.RecordedConversation;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A replay that runs: peers by their numbers, and what was found so far. */
final class ReplayRun {

    /** Virtual time after the end of a recording in which the socket can send what is still expected. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop;
    private final String prefix;
    private final Map<ZMTPSocketType, List<String>> targets = new LinkedHashMap<>();
    private final Map<Integer, ReplayedPeer> peers = new LinkedHashMap<>();
    private final Duration start;
    private long connections;
    private long received;
    private long sent;
    private ZMTPReplay.@Nullable Difference first;

    ReplayRun(ZMTPTestLoop loop, ZMTPSocket... sockets) {
        this.loop = loop;
        loop.run(); // a socket can be about to bind
        this.start = loop.time();
        this.prefix = loop.virtual().bytes().scheme() + "://";
        for (ZMTPSocket socket : sockets) {
            List<String> its = targets.computeIfAbsent(socket.socketType(), type -> new ArrayList<>());
            loop.watched(socket).listeners().stream()
                    .filter(endpoint -> endpoint.startsWith(prefix))
                    .forEach(its::add);
        }
    }

    void play(ZMTPRecording.Entry entry) {
        ReplayedPeer peer = peers.get(entry.connection());
        boolean isUp = entry.kind() == ZMTPRecording.Kind.UP;
        String target = isUp && entry.accepted() ? target(entry) : null;
        if (peer == null && target == null) {
            return;
        }
        Duration wait = start.plus(entry.time()).minus(loop.time());
        if (wait.compareTo(Duration.ZERO) > 0) {
            loop.advance(wait);
        }
        if (target != null) {
            connect(entry, target);
        } else if (peer != null) {
            play(entry, peer);
        }
    }

    private void connect(ZMTPRecording.Entry entry, String target) {
        ReplayedPeer peer = new ReplayedPeer(loop, entry, this::differs);
        connections++;
        peers.put(entry.connection(), peer);
        peer.connect(target);
    }

    private void play(ZMTPRecording.Entry entry, ReplayedPeer peer) {
        switch (entry.kind()) {
            case RECEIVED -> {
                received++;
                peer.send(entry);
            }
            case DOWN -> {
                loop.run();
                peers.remove(entry.connection());
                end(peer);
            }
            default -> {
                if (RecordedConversation.isOfSocket(entry)) {
                    peer.expect(entry);
                } else {
                    peer.send(entry);
                }
            }
        }
    }

    private void end(ReplayedPeer peer) {
        peer.conversation().checkNothingMore();
        peer.conversation().checkNothingMissing();
        sent += peer.sent();
        peer.close();
    }

    private void differs(ZMTPReplay.Difference difference) {
        if (first == null) {
            first = difference;
        }
    }

    /** Returns the {@code test://} endpoint of a socket of the recorded type; null if no socket has this type. */
    private @Nullable String target(ZMTPRecording.Entry up) {
        List<String> its = targets.get(up.socketType());
        if (its == null) {
            return null;
        }
        String sameName = prefix + up.endpoint().replaceFirst("^[^:/]*://", "");
        if (its.contains(sameName)) {
            return sameName;
        }
        if (its.size() != 1) {
            throw new IllegalArgumentException(up.socketType() + " of " + up.endpoint() + ": bound to " + its
                    + " (expected: to " + sameName + ", or to a single endpoint of test://)");
        }
        return its.get(0);
    }

    ZMTPReplay.Report report() {
        loop.run();
        peers.values().forEach(peer -> peer.conversation().checkNothingMore());
        if (peers.values().stream().anyMatch(peer -> peer.conversation().isWaiting())) {
            loop.advance(PATIENCE);
        }
        for (ReplayedPeer peer : peers.values()) {
            peer.conversation().checkNothingMissing();
            sent += peer.sent();
        }
        if (connections == 0) {
            throw new IllegalArgumentException("recording: no peer of a socket of " + targets.keySet()
                    + " (expected: a peer that has connected to one)");
        }
        return new ZMTPReplay.Report(received, sent, first);
    }

    void close() {
        peers.values().forEach(ReplayedPeer::close);
    }
}
