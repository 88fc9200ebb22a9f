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
 * The connections that a limiter counts, and which one goes when there are too many. Thread safe.
 *
 * <p>Only a connection that is in its handshake makes room for another, and only if its peer has kept this side waiting
 * for longer than honest peers do. If there is none, the newcomer is refused: were it let in, a thousand honest clients
 * of one address that come at the same time would end each other for ever. The wait begins anew with each answer of
 * this side, not with each byte that arrives: a peer that sends a byte at a time must not keep its place.
 *
 * <p>The addresses with most handshakes are searched first, so a host that opens many connections displaces its own.
 * They also make room for an address that has fewer.
 */
public final class ConnectionRegistry {

    /**
     * How long a peer may keep this side waiting, in nanoseconds, before another one may have its place: as long as a
     * few round trips take, and TCP to send again what was lost.
     */
    public static final long PATIENCE = Duration.ofSeconds(2).toNanos();

    /** How many addresses, and handshakes of each, are searched for one that may go. */
    private static final int SEARCHED = 8;

    /** A connection, which is counted while it has a group; and the listener of its close future. */
    final class Entry implements ChannelFutureListener {
        final ChannelHandlerContext ctx;

        /** Whose address it counts for. Used on its event loop only. */
        @Nullable
        SocketAddress peer;

        /** The session of its codec, once that was found. */
        volatile @Nullable LimitedSession session;

        /** What it waits for before its first read, once it was asked for. Used on its event loop only. */
        @Nullable
        ReadPause pause;

        // Guarded by the registry.
        private long number; // the order in which this side has begun to wait
        private long waitingSince;
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

    /** A connection that must go, and why. It is not counted any more. */
    record Refusal(Entry entry, String reason) {}

    /** The connections of one address. */
    private static final class Group {
        private final String address;
        private int connections;

        /** The peer that has kept this side waiting longest comes first. */
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
     * All connections that were counted, until they are over: one that is refused on another thread may end its
     * handshake before it hears of that. Guarded by this, as are all others.
     */
    private final Map<Channel, Entry> entries = new HashMap<>();

    private int counted;

    private final Map<String, Group> groups = new HashMap<>();

    private final Map<String, Integer> perUser = new HashMap<>();

    /** The groups that have a handshake. Those with most come first; of these, the one with the longest wait. */
    private final TreeSet<Group> byHandshakes =
            new TreeSet<>(Comparator.<Group>comparingInt(group -> -group.handshakes.size())
                    .thenComparingLong(group -> group.longest().number));

    private long lastNumber;

    /**
     * An empty registry.
     *
     * @param what what it counts, for messages
     * @param nanoTime the clock, {@link System#nanoTime} outside of tests
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

    /** The number of connections that are counted. */
    synchronized int size() {
        return counted;
    }

    /** The number of addresses and users that something is kept for. */
    synchronized int keys() {
        return groups.size() + perUser.size();
    }

    /** Returns what was counted for {@code channel} and is not over, or null. It may have been refused. */
    synchronized @Nullable Entry find(Channel channel) {
        return entries.get(channel);
    }

    /** Returns a connection that is not counted yet. */
    Entry entry(ChannelHandlerContext ctx, @Nullable SocketAddress peer) {
        return new Entry(ctx, peer);
    }

    /** Counts a connection that begins its handshake. Returns the one that is refused for it, which may be itself. */
    synchronized @Nullable Refusal add(Entry entry, String address) {
        Refusal refusal = makeRoom(entry, address, true);
        if (refusal == null || refusal.entry != entry) {
            join(entry, address);
        }
        return refusal;
    }

    /** Counts a connection for another address. Returns the one that is refused for it, which may be itself. */
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

    /** Refuses a connection if there is no room for one more of this address, or for one more at all if it is new. */
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

    /** Returns the handshake that goes for an address that has {@code own}, or {@code newcomer} if none does. */
    private Entry choose(int own, Entry newcomer) {
        List<Group> largest = byHandshakes.stream().limit(SEARCHED).toList();
        for (Group group : largest) {
            Entry overdue = overdue(group);
            if (overdue != null) {
                return overdue;
            }
        }
        // Not for one that would have as many: they would take the place from each other in turn.
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
     * Returns the handshake whose peer has kept this side waiting for too long, or null. The wait of one that waits for
     * this side, as a mechanism computes or an authenticator decides, has not begun: its peer has done its part.
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

    /** This side has sent something during the handshake, and waits for the peer from now on. */
    synchronized void answered(Channel channel) {
        Entry entry = entries.get(channel);
        if (entry != null && entry.group != null && !entry.isSettled) {
            beginWait(entry, entry.group);
        }
    }

    private void beginWait(Entry entry, Group group) {
        byHandshakes.remove(group); // while its order is the one that it was added with
        group.handshakes.remove(entry);
        append(entry, group);
        byHandshakes.add(group);
    }

    private void append(Entry entry, Group group) {
        entry.number = ++lastNumber;
        entry.waitingSince = nanoTime.getAsLong();
        group.handshakes.add(entry);
    }

    /**
     * The handshake is over, so from now on the connection makes no room for another. If it has just done so, on
     * another thread, it is counted again.
     */
    synchronized void settle(Entry entry) {
        if (entry.isSettled) {
            return;
        }
        discount(entry);
        entry.isSettled = true;
        join(entry, entry.address);
    }

    /** Counts a settled connection for its user. Returns its refusal if the user has too many. */
    synchronized @Nullable Refusal countUser(Entry entry, String userId, int maxPerUser) {
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

    /** The connection is over, or counts no more. */
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
        byHandshakes.remove(group); // while its order is the one that it was added with
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
