package dev.zmtp.socket;

/** What has happened to the messages of one peer. */
final class PeerCounters {
    final Count written = new Count();
    final Count dropped = new Count();
    final Count unknown = new Count();
    final Count received = new Count();
    final Count malformed = new Count();
    final Count late = new Count();
}
