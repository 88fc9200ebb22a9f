package dev.zmtp.internal.capture;

import java.util.List;

/**
 * A recording as a whole.
 *
 * @param size number of bytes of the file
 * @param begun time since 1970 in nanoseconds at which it begins
 * @param complete whether nothing is missing
 * @param dropped number of packets that were dropped, as the file says
 * @param endpoints endpoints of connections with a complete handshake
 */
public record RecordingSummary(long size, long begun, boolean complete, long dropped, List<String> endpoints) {}
