package dev.zmtp.internal.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.internal.runtime.AddressKey;
import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.internal.wire.PeerText;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The connections that a limiter counts, and the choice of the connection that is refused when there are too many.
 * Thread safe.
 *
 * <p>Only a connection in its handshake makes room for another, and only if its peer has kept this side waiting for
 * longer than honest peers do. If there is none, the newcomer is refused. If it were admitted, a thousand honest
 * clients of one address that connect at the same time would evict each other forever. The wait restarts with each
 * reply of this side, not with each received byte, because a peer that sends a byte at a time must not keep its place.
 * After all waits together were long, only a few more replies restart it, because a peer can ask for replies without
 * end, such as the PONGs of WebSocket.
 *
 * <p>Addresses with the most handshakes are searched first, so a host that opens many connections displaces its own.
 * They also make room for an address that has fewer.
 */
public final class ConnectionRegistry {

    /**
     * Maximum time that a peer can keep this side waiting before another peer can take its place, in nanoseconds. Long
     * enough for a few round trips and for TCP to retransmit lost segments.
     */
    public static final long PATIENCE = Duration.ofSeconds(2).toNanos();

    /** Maximum time of all waits for a peer after which a reply restarts its wait, in nanoseconds. */
    private static final long PATIENCE_IN_ALL = 2 * PATIENCE;

    /** Number of replies that restart the wait even after that, because a busy event loop reads late. */
    private static final int MORE_REPLIES = 4;

    /** Maximum number of addresses, and of handshakes per address, that are searched for a connection to refuse. */
    private static final int SEARCHED = 8;

    /** A connection, which is counted while it has a group. Also the listener of its close future. */
    final class Entry implements ChannelFutureListener {
        final ChannelHandlerContext ctx;

        /** The address that the connection counts against. Used only on its event loop. */
        @Nullable
        SocketAddress peer;

        /** The session of its codec, once it was found. */
        volatile @Nullable LimitedSession session;

        /** The pause before its first read, once a read was requested. Used only on its event loop. */
        @Nullable
        ReadPause pause;

        // Guarded by the registry.
        private long number; // the order in which this side started to wait
        private long waitingSince;
        private long arrivedAt; // the last data
        private long waited;
        private int moreReplies;
        private @Nullable Group group;
        private String address = AddressKey.NONE;
        private boolean isSettled;
        private @Nullable String userId;

        private Entry(ChannelHandlerContext ctx, @Nullable SocketAddress peer) {
            this.ctx = ctx;
            this.peer = peer;
        }

        private boolean waitsForPeer() {
            LimitedSession known = session;
            return (known == null || !known.isWorking()) && !Computations.areFor(ctx.channel());
        }

        @Override
        public void operationComplete(ChannelFuture closed) {
            remove(this);
        }
    }

    /** A refused connection and the reason. It is no longer counted. */
    record Refusal(Entry entry, String reason) {}

    /** The connections of an address. */
    private static final class Group {
        private final String address;
        private int connections;

        /** The peer that has kept this side waiting the longest comes first. */
        private final LinkedHashSet<Entry> handshakes = new LinkedHashSet<>();

        private Group(String address) {
            this.address = address;
        }

        private Entry longest() {
            return handshakes.iterator().next();
        }
    }

    private final String what;
    private final int maxTotal;
    private final int maxPerAddress;
    private final LongSupplier nanoTime;

    /**
     * All counted connections until they are over. A connection that is refused on another thread can end its handshake
     * before its own thread is notified. Guarded by this, like all other fields.
     */
    private final Map<Channel, Entry> entries = new HashMap<>();

    private int counted;

    private final Map<String, Group> groups = new HashMap<>();

    private final Map<String, Integer> perUser = new HashMap<>();

    /**
     * The groups with handshakes. The groups with the most handshakes come first, and among these the group with the
     * longest wait.
     */
    private final TreeSet<Group> byHandshakes =
            new TreeSet<>(Comparator.<Group>comparingInt(group -> -group.handshakes.size())
                    .thenComparingLong(group -> group.longest().number));

    private long lastNumber;

    /**
     * An empty registry.
     *
     * @param what name of the counted connections, for messages
     * @param nanoTime the clock, {@link System#nanoTime} except in tests
     */
    public ConnectionRegistry(String what, int maxTotal, int maxPerAddress, LongSupplier nanoTime) {
        this.what = what;
        this.maxTotal = atLeastOne("maxTotal", maxTotal);
        this.maxPerAddress = atLeastOne("maxPerAddress", maxPerAddress);
        this.nanoTime = nanoTime;
    }

    public static int atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
        return value;
    }

    /** Returns the number of counted connections. */
    synchronized int size() {
        return counted;
    }

    /** Returns the number of addresses and users with an entry. */
    synchronized int keys() {
        return groups.size() + perUser.size();
    }

    /**
     * Returns the entry of {@code channel} if the connection is not over, otherwise null. The connection can already be
     * refused.
     */
    synchronized @Nullable Entry find(Channel channel) {
        return entries.get(channel);
    }

    /** Returns an entry that is not counted yet. */
    Entry entry(ChannelHandlerContext ctx, @Nullable SocketAddress peer) {
        return new Entry(ctx, peer);
    }

    /** Counts a connection that starts its handshake. Returns the refusal of a connection, possibly of this one. */
    synchronized @Nullable Refusal add(Entry entry, String address) {
        Refusal refusal = makeRoom(entry, address, true);
        if (refusal == null || refusal.entry != entry) {
            join(entry, address);
        }
        return refusal;
    }

    /** Counts a connection under another address. Returns the refusal of a connection, possibly of this one. */
    synchronized @Nullable Refusal move(Entry entry, String address) {
        if (entry.group == null || entry.isSettled || entry.address.equals(address)) {
            return null;
        }
        Refusal refusal = makeRoom(entry, address, false);
        if (refusal == null || refusal.entry != entry) {
            discount(entry);
            join(entry, address);
        }
        return refusal;
    }

    /**
     * Refuses a connection if there is no room for another connection of this address, or, if the connection is new,
     * for any other connection.
     */
    private @Nullable Refusal makeRoom(Entry entry, String address, boolean isNew) {
        Group group = groups.get(address);
        if (group != null && !address.equals(AddressKey.NONE) && group.connections >= maxPerAddress) {
            Entry overdue = overdue(group);
            return refuse(overdue == null ? entry : overdue, " with " + address, group.connections + 1, maxPerAddress);
        }
        if (isNew && counted >= maxTotal) {
            int own = group == null ? 0 : group.handshakes.size();
            return refuse(choose(own, entry), "", counted + 1, maxTotal);
        }
        return null;
    }

    private Refusal refuse(Entry entry, String whose, int count, int limit) {
        discount(entry);
        return new Refusal(entry, what + whose + ": " + count + " (expected: <= " + limit + ")");
    }

    /**
     * Returns the handshake that is refused for an address that has {@code own}, or {@code newcomer} if there is none.
     */
    private Entry choose(int own, Entry newcomer) {
        List<Group> largest = byHandshakes.stream().limit(SEARCHED).toList();
        for (Group group : largest) {
            Entry overdue = overdue(group);
            if (overdue != null) {
                return overdue;
            }
        }
        // Groups that would then have equally many are excluded, because they would keep displacing each other.
        List<Group> larger =
                largest.stream().filter(one -> one.handshakes.size() > own + 1).toList();
        return longest(larger)
                .filter(Entry::waitsForPeer)
                .findFirst()
                .or(() -> longest(larger).findFirst())
                .orElse(newcomer);
    }

    private static Stream<Entry> longest(List<Group> groups) {
        return groups.stream().flatMap(group -> group.handshakes.stream().limit(SEARCHED));
    }

    /**
     * Returns a handshake whose peer has kept this side waiting for too long, or null. While the peer waits for this
     * side, because a mechanism computes or an authenticator decides, this side's wait has not started.
     */
    private @Nullable Entry overdue(Group group) {
        for (int i = 0; i < SEARCHED && !group.handshakes.isEmpty(); i++) {
            Entry longest = group.longest();
            if (nanoTime.getAsLong() - longest.waitingSince < PATIENCE) {
                return null;
            }
            if (longest.waitsForPeer()) {
                return longest;
            }
            beginWait(longest, group);
        }
        return null;
    }

    /** Restarts the wait, because this side has sent data during the handshake and now waits for the peer. */
    synchronized void answered(Channel channel) {
        Entry entry = entries.get(channel);
        if (entry == null || entry.group == null || entry.isSettled) {
            return;
        }
        entry.waited += Math.max(0, entry.arrivedAt - entry.waitingSince);
        if (entry.waited < PATIENCE_IN_ALL || entry.moreReplies++ < MORE_REPLIES) {
            beginWait(entry, entry.group);
        }
    }

    /** Notes that the peer has sent data. What follows until the reply is not a wait for the peer. */
    synchronized void arrived(Channel channel) {
        Entry entry = entries.get(channel);
        if (entry != null && !entry.isSettled) {
            entry.arrivedAt = nanoTime.getAsLong();
        }
    }

    private void beginWait(Entry entry, Group group) {
        byHandshakes.remove(group); // removed while its order is unchanged since it was added
        group.handshakes.remove(entry);
        append(entry, group);
        byHandshakes.add(group);
    }

    private void append(Entry entry, Group group) {
        entry.number = ++lastNumber;
        entry.waitingSince = nanoTime.getAsLong();
        entry.arrivedAt = entry.waitingSince;
        group.handshakes.add(entry);
    }

    /**
     * Notes that the handshake is over, so that the connection no longer makes room for another. If it has just been
     * refused on another thread, it is counted again, but not if it has just been closed.
     */
    synchronized void settle(Entry entry) {
        if (entry.isSettled || entries.get(entry.ctx.channel()) != entry) {
            return;
        }
        discount(entry);
        entry.isSettled = true;
        join(entry, entry.address);
    }

    /** Counts a settled connection for its user. Returns its refusal if the user has too many connections. */
    synchronized @Nullable Refusal countUser(Entry entry, String userId, int maxPerUser) {
        if (entry.group == null) {
            return null; // closed on another thread
        }
        int connections = perUser.getOrDefault(userId, 0) + 1;
        if (connections > maxPerUser) {
            return refuse(entry, " of user " + PeerText.of(UTF_8.encode(userId)), connections, maxPerUser);
        }
        entry.userId = userId;
        perUser.put(userId, connections);
        return null;
    }

    /** Returns whether the handshake of a connection is over. */
    synchronized boolean isSettled(Entry entry) {
        return entry.isSettled;
    }

    /** Removes a connection that is over or no longer counts. */
    synchronized void remove(Entry entry) {
        entries.remove(entry.ctx.channel(), entry);
        discount(entry);
    }

    private void discount(Entry entry) {
        Group group = entry.group;
        if (group == null) {
            return;
        }
        counted--;
        entry.group = null;
        byHandshakes.remove(group); // removed while its order is unchanged since it was added
        group.handshakes.remove(entry);
        group.connections--;
        update(group);
        if (entry.userId != null) {
            perUser.computeIfPresent(entry.userId, (user, connections) -> connections == 1 ? null : connections - 1);
        }
    }

    private void join(Entry entry, String address) {
        Group group = groups.computeIfAbsent(address, Group::new);
        entries.put(entry.ctx.channel(), entry);
        counted++;
        entry.address = address;
        entry.group = group;
        byHandshakes.remove(group);
        if (!entry.isSettled) {
            append(entry, group);
        }
        group.connections++;
        update(group);
    }

    private void update(Group group) {
        if (!group.handshakes.isEmpty()) {
            byHandshakes.add(group);
        }
        if (group.connections == 0) {
            groups.remove(group.address);
        }
    }
}
