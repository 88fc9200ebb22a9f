package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A peer and what it has to do with the server, over one connection or several: what was sent and received, what was
 * done to it, and what happened. It is checked at its end. For any thread.
 */
final class Link {

    /** What of a link is in this process. */
    enum Sight {
        /** Both ends. */
        WHOLE,
        /** The peer and the proxy. */
        PEER,
        /** One connection at the server. */
        CONNECTION
    }

    private static final int HISTORY = 60;

    /** Streams of all links; another process's begin elsewhere. */
    private static final AtomicLong STREAMS = new AtomicLong((System.nanoTime() & 0xffff_ffffL) << 28);

    private final String name;
    private final Plan plan;
    private final Sight sight;
    private final Totals totals;
    private final Violations violations;

    private final long start = System.nanoTime();
    private final Deque<String> history = new ArrayDeque<>();
    private final List<OutgoingStream> outgoing = new ArrayList<>();
    private final List<Incoming> incoming = new ArrayList<>();
    private final Set<Channel> open = new HashSet<>();
    private final AtomicInteger serverConnections = new AtomicInteger();

    private volatile long progress = start;
    private volatile boolean broken;
    private volatile boolean closing;
    private volatile boolean ended;

    /** A link of which this process sees so much. */
    Link(String name, Plan plan, Sight sight, Totals totals, Violations violations) {
        this.name = name;
        this.plan = plan;
        this.sight = sight;
        this.totals = totals;
        this.violations = violations;
        this.broken = sight == Sight.CONNECTION; // for all that is known here
        note("planned: " + plan);
    }

    Plan plan() {
        return plan;
    }

    /** Remembers what happened. */
    void note(String event) {
        String line = String.format(Locale.ROOT, "%8.3f s  %s", (System.nanoTime() - start) / 1e9, event);
        synchronized (history) {
            if (history.size() == HISTORY) {
                history.pollFirst();
            }
            history.addLast(line);
        }
    }

    /** Says that something was wrong. */
    void violated(String what) {
        List<String> events = new ArrayList<>();
        synchronized (history) {
            events.addAll(history);
        }
        synchronized (this) {
            outgoing.forEach(stream -> events.add("sent: " + stream));
            incoming.forEach(stream -> events.add("received: " + stream));
        }
        violations.add(what, toString(), events);
    }

    /** Says that something happened which does not happen for ever: a machine that is merely slow gets there too. */
    void progressed() {
        progress = System.nanoTime();
    }

    /** Whether nothing has happened for so long that nothing will. */
    boolean hangs(Duration patience) {
        return System.nanoTime() - progress > patience.toNanos();
    }

    /** Says that something is done to a connection that may lose messages. */
    void broke(String how) {
        broken = true;
        note("broken: " + how);
    }

    /** Whether something was done that may lose messages. */
    boolean isBroken() {
        return broken;
    }

    /** Says that one end has got all it waits for, and closes. */
    void closing(String who) {
        closing = true;
        note(who + " has all and closes");
    }

    /** Whether one end is done, so that a reset of the connection means nothing. */
    boolean isClosing() {
        return closing;
    }

    /** Says that the server has got the peer's end. */
    void ended() {
        ended = true;
    }

    /** Whether the server has got the peer's end. */
    boolean isEnded() {
        return ended;
    }

    /** The number of this connection to the server, from 0. */
    int nextServerConnection() {
        return serverConnections.getAndIncrement();
    }

    /** A new stream to be sent. */
    OutgoingStream newOutgoing(boolean promised) {
        OutgoingStream stream = new OutgoingStream(STREAMS.incrementAndGet(), promised);
        synchronized (this) {
            outgoing.add(stream);
        }
        return stream;
    }

    private synchronized Incoming newIncoming(long stream) {
        Incoming one = new Incoming(stream);
        incoming.add(one);
        return one;
    }

    /** Collects what one end of one connection, or a socket of several, receives. Not thread safe. */
    final class Inbox {
        private final String owner;
        private final boolean oneStream;
        private final List<Incoming> streams = new ArrayList<>();

        /** An inbox that receives one stream, or several as connections follow each other. */
        Inbox(String owner, boolean oneStream) {
            this.owner = owner;
            this.oneStream = oneStream;
        }

        /** Checks {@code message}, which stays the caller's; returns its header, or null. */
        @Nullable
        Numbered take(ZMTPMessage message) {
            try {
                Numbered said = Numbered.of(message);
                totals.count("messages received, whole and in order", owner);
                totals.add("bytes received", owner, message.readableBytes());
                Incoming stream = stream(said.stream());
                if (!stream.isEnded()) {
                    progressed();
                    if (said.end()) {
                        note(owner + " received " + said);
                    }
                }
                String fault = stream.take(said);
                if (fault != null) {
                    violated(owner + ": " + fault);
                }
                return said;
            } catch (TornException e) {
                violated(owner + ": torn: " + e.getMessage() + ": " + message);
                return null;
            }
        }

        private Incoming stream(long number) {
            for (Incoming stream : streams) {
                if (stream.stream() == number) {
                    return stream;
                }
            }
            Incoming stream = newIncoming(number);
            streams.add(stream);
            if (oneStream && streams.size() > 1) {
                violated(owner + ": a message of stream " + number + " (expected: only of " + streams.get(0).stream()
                        + ")");
            }
            return stream;
        }
    }

    /** Says that a channel of the codec's is being opened. */
    synchronized void opened(Channel channel) {
        open.add(channel);
    }

    /** Reports that a channel of the codec is closed and its pipeline torn down: nothing comes after that. */
    void closed(Channel channel) {
        synchronized (this) {
            open.remove(channel);
            notifyAll();
        }
        if (sight == Sight.CONNECTION) {
            judge();
        }
    }

    /** Waits until all channels of the codec are closed, at most for so long, then checks. */
    void finish(long seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        synchronized (this) {
            for (long left = seconds * 1_000; !open.isEmpty() && left > 0; ) {
                wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            }
        }
        judge();
    }

    /** Judges a link that is over. */
    void judge() {
        List<OutgoingStream> sent;
        List<Incoming> received;
        synchronized (this) {
            if (!open.isEmpty()) {
                violated("channels that are still open: " + open);
            }
            sent = List.copyOf(outgoing);
            received = new ArrayList<>(incoming);
        }
        received.sort(Comparator.comparingLong(Incoming::first));
        sent.forEach(this::judgePromises);
        if (sight == Sight.WHOLE) {
            sent.forEach(stream -> judgeArrival(
                    stream,
                    received.stream()
                            .filter(in -> in.stream() == stream.stream())
                            .toList()));
            received.stream()
                    .filter(in -> sent.stream().noneMatch(out -> out.stream() == in.stream()))
                    .forEach(in -> violated("received, but never sent on this link: " + in));
        } else {
            received.forEach(this::judgeAlone);
        }
        String how = sight == Sight.CONNECTION ? "seen from the server" : broken ? "broken" : "whole";
        totals.count("links ended", how);
        totals.count("links", how + ", " + plan.kind() + " " + plan.pattern());
    }

    private void judgePromises(OutgoingStream sent) {
        if (sent.pending() > 0) {
            violated("promises that never completed: " + sent);
        }
        if (sent.isPromised()) {
            totals.add("promises", "succeeded", sent.succeeded());
            totals.add("promises", "failed", sent.written() - sent.succeeded() - sent.pending());
            if (!broken && sent.succeeded() != sent.written()) {
                violated("promises that failed, although nothing was done to the connection: " + sent);
            }
        }
    }

    /** Checks a stream whose sender is elsewhere: peers and servers of the codec each begin at 0. */
    private void judgeAlone(Incoming received) {
        if (sight == Sight.PEER && received.first() != 0) {
            violated("lost: what came before " + received);
        }
        if (!broken && !received.isEnded()) {
            violated("not all arrived, although nothing was done to the connection: " + received);
        }
    }

    private void judgeArrival(OutgoingStream sent, List<Incoming> received) {
        if (sent.isPromised() && received.size() > 1) {
            violated("one connection's stream arrived on several: " + received);
        }
        long next = 0;
        long arrived = 0;
        boolean ended = false;
        for (Incoming part : received) {
            if (part.first() < next) {
                violated("duplicated: " + part + ", but a connection before brought all up to " + (next - 1));
            }
            if (part.first() != next && (sent.isPromised() || !broken)) {
                violated("lost: " + next + " to " + (part.first() - 1) + " before " + part + " of " + sent);
            }
            next = part.next();
            arrived += part.next() - part.first();
            ended |= part.isEnded();
        }
        if (next > sent.written()) {
            violated("received " + received + ", but sent only " + sent);
        }
        if (!broken && (!sent.isEnded() || !ended || arrived != sent.written())) {
            violated("not all arrived, although nothing was done to the connection: received " + received + ", sent "
                    + sent);
        }
    }

    @Override
    public String toString() {
        return "link " + name + " (" + plan.kind() + " " + plan.pattern() + ")";
    }
}
