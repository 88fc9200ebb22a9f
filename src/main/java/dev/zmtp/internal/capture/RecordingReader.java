package dev.zmtp.internal.capture;

import dev.zmtp.capture.ZMTPRecording;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the entries of a recording, one after the other. It trusts no length: the memory for messages and connections
 * is bounded.
 */
public final class RecordingReader implements RecordedConnection.Entries {

    /** Maximum number of interfaces. A capture has 1,000 endpoints and one for what belongs to none. */
    private static final int MAX_INTERFACES = 1_024;

    /** Maximum number of connections at the same time. */
    private static final int MAX_CONNECTIONS = 16_384;

    private static final Duration MAX_TIME = Duration.ofDays(366);

    /** Times are nanoseconds. */
    private static final int RESOLUTION = 9;

    /** As {@link LinkedHashMap} has it, which asks for both if it is to keep the order of accesses. */
    private static final int INITIAL_CAPACITY = 16;

    private static final float LOAD_FACTOR = 0.75f;

    private static final int STATISTICS_FIELDS = 12;
    private static final int INTERFACE_FIELDS = 8;

    private final PcapngReader blocks;
    private final @Nullable RecordingSummary summary;
    private final List<String> interfaces = new ArrayList<>();

    /** The connection with the oldest last packet first. */
    private final Map<String, RecordedConnection> connections =
            new LinkedHashMap<>(INITIAL_CAPACITY, LOAD_FACTOR, true);

    private final UnfinishedBytes unfinished = new UnfinishedBytes();
    private final Queue<ZMTPRecording.Entry> entries = new ArrayDeque<>();
    private final Set<String> endpoints = new LinkedHashSet<>();
    private boolean begun;
    private boolean complete = true;
    private int numbers;
    private Duration time = Duration.ZERO;

    // Found while reading, for the summary
    private long opened = Long.MAX_VALUE;
    private long first = Long.MAX_VALUE;
    private long last;
    private int ended;
    private long dropped;

    private RecordingReader(RecordingSource source, long size, @Nullable RecordingSummary summary) {
        this.blocks = new PcapngReader(source, size);
        this.summary = summary;
    }

    /**
     * Reads a recording to its end.
     *
     * @throws IOException if it is not a recording. The message names the value, and the expected values
     */
    public static RecordingSummary summarize(RecordingSource source, long size) throws IOException {
        RecordingReader reader = new RecordingReader(source, size, null);
        while (reader.next() != null) {
            // the entries are not needed
        }
        return reader.summarized(size);
    }

    /** Returns a reader of the entries of a recording. */
    public static RecordingReader of(RecordingSource source, RecordingSummary summary) {
        return new RecordingReader(source, summary.size(), summary);
    }

    /**
     * Returns the next entry, or null at the end.
     *
     * @throws IOException if the bytes are not those of a recording
     */
    public ZMTPRecording.@Nullable Entry next() throws IOException {
        if (!begun) {
            blocks.begin();
            begun = true;
        }
        ZMTPRecording.Entry next = entries.poll();
        while (next == null && blocks.next()) {
            read(blocks.body());
            next = entries.poll();
        }
        return next;
    }

    private void read(ByteBuffer body) throws IOException {
        switch (blocks.type()) {
            case PcapngBlocks.INTERFACE -> readInterface(body);
            case PcapngBlocks.PACKET -> readPacket(RecordedPacket.read(body));
            case PcapngBlocks.STATISTICS -> readStatistics(body);
            default ->
                throw new IOException(
                        "block type: 0x%08x (expected: 1, 5 or 6, the blocks of a capture)".formatted(blocks.type()));
        }
    }

    private void readInterface(ByteBuffer body) throws IOException {
        check(body.remaining() >= INTERFACE_FIELDS, "interface length", body.remaining(), ">= " + INTERFACE_FIELDS);
        int linkType = Short.toUnsignedInt(body.getShort());
        check(linkType == PcapngBlocks.LINK_TYPE_RAW, "link type", linkType, PcapngBlocks.LINK_TYPE_RAW + ", raw IP");
        check(interfaces.size() < MAX_INTERFACES, "interfaces", interfaces.size() + 1, "<= " + MAX_INTERFACES);
        PcapngOptions options =
                new PcapngOptions(body.position(INTERFACE_FIELDS).slice());
        int resolution = options.oneByte(PcapngBlocks.OPTION_RESOLUTION, "time resolution");
        check(resolution == RESOLUTION, "time resolution", resolution, RESOLUTION + ", nanoseconds");
        String name = options.text(PcapngBlocks.OPTION_NAME);
        check(
                name.length() <= PcapngBlocks.MAX_TEXT,
                "length of an endpoint",
                name.length(),
                "<= " + PcapngBlocks.MAX_TEXT);
        interfaces.add(name);
    }

    private void readStatistics(ByteBuffer body) throws IOException {
        check(body.remaining() >= STATISTICS_FIELDS, "statistics length", body.remaining(), ">= " + STATISTICS_FIELDS);
        checkInterface(body.getInt());
        PcapngOptions options =
                new PcapngOptions(body.position(STATISTICS_FIELDS).slice());
        long lost = options.count(PcapngBlocks.OPTION_DROPPED, "dropped packets");
        dropped = lost > Long.MAX_VALUE - dropped ? Long.MAX_VALUE : dropped + lost;
        opened = Math.min(opened, options.time(PcapngBlocks.OPTION_BEGUN, "time of the beginning"));
        complete &= !options.text(PcapngBlocks.OPTION_COMMENT).equals(PcapngBlocks.PART);
        ended++;
    }

    private void checkInterface(int number) throws IOException {
        check(
                number >= 0 && number < interfaces.size(),
                "number of an interface",
                Integer.toUnsignedLong(number),
                "< " + interfaces.size());
    }

    private static void check(boolean holds, String name, Object value, String expected) throws IOException {
        if (!holds) {
            throw PcapngReader.wrong(name, value, expected);
        }
    }

    private void readPacket(RecordedPacket packet) throws IOException {
        checkInterface(packet.at());
        complete &= ended == 0 && packet.missing() == 0;
        moveTo(packet.nanos());
        RecordedConnection connection = connections.get(packet.connection());
        if (packet.has(TcpPackets.SYN) && !packet.has(TcpPackets.ACK)) {
            connection = open(packet, connection);
        } else if (connection == null) { // the last packets of a connection, or one whose beginning is missing
            complete &= packet.length() == 0 && !packet.has(TcpPackets.SYN);
            return;
        }
        complete &= connection.read(packet);
        if (packet.has(TcpPackets.RST) || packet.has(TcpPackets.FIN)) {
            connections.remove(packet.connection());
            end(connection);
        }
    }

    private RecordedConnection open(RecordedPacket packet, @Nullable RecordedConnection replaced) throws IOException {
        if (replaced != null) {
            complete = false;
            connections.remove(packet.connection());
            end(replaced);
        }
        if (connections.size() == MAX_CONNECTIONS && !complete) { // ends of connections can be missing, too
            endOldest();
        }
        RecordedConnection opened = new RecordedConnection(interfaces.get(packet.at()), packet.in(), this, unfinished);
        connections.put(packet.connection(), opened);
        check(connections.size() <= MAX_CONNECTIONS, "connections", connections.size(), "<= " + MAX_CONNECTIONS);
        return opened;
    }

    private void endOldest() {
        Iterator<RecordedConnection> oldest = connections.values().iterator();
        RecordedConnection its = oldest.next();
        oldest.remove();
        end(its);
    }

    private void end(RecordedConnection connection) {
        complete &= connection.end();
        connection.forget();
    }

    private void moveTo(long nanos) throws IOException {
        first = Math.min(first, nanos);
        last = Math.max(last, nanos);
        if (summary != null) {
            Duration now = Duration.ofNanos(nanos - summary.begun());
            time = now.compareTo(time) > 0 ? now : time;
        }
    }

    @Override
    public int nextNumber() {
        return ++numbers;
    }

    @Override
    public void add(RecordedConnection from, ZMTPRecording.Kind kind, List<byte[]> frames) {
        endpoints.add(from.endpoint);
        entries.add(new ZMTPRecording.Entry(
                time,
                from.endpoint,
                Objects.requireNonNull(from.socketType, "socket type"),
                from.accepted,
                from.number,
                kind,
                from.peerType,
                from.routingId,
                frames));
    }

    private RecordingSummary summarized(long size) throws IOException {
        boolean whole = complete
                && !blocks.isCut()
                && dropped == 0
                && ended > 0
                && ended == interfaces.size()
                && connections.values().stream().allMatch(RecordedConnection::isWhole);
        long start = Math.min(first, opened);
        if (last > start) {
            Duration length = Duration.ofNanos(last - start);
            check(length.compareTo(MAX_TIME) <= 0, "time of the last packet", length, "<= " + MAX_TIME);
        }
        return new RecordingSummary(size, start, whole, dropped, List.copyOf(endpoints));
    }
}
