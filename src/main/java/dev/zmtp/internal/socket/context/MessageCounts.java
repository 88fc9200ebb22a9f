package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;

/** The values behind a {@link ZMTPStats}, whose accessors describe them. */
public record MessageCounts(
        long sent,
        long written,
        long queued,
        long queuedBytes,
        long dropped,
        long outcomeUnknown,
        long received,
        long malformed,
        long lateReplies,
        long discarded,
        long connects,
        long handshakeFailures,
        long writtenBytes,
        long receivedBytes,
        Duration oldestAge) {}
