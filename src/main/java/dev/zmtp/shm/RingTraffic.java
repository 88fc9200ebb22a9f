package dev.zmtp.shm;

import io.netty.channel.ChannelOutboundBuffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The bytes that a channel moves through its two rings, turn by turn on its event loop. */
final class RingTraffic {

    /** The parts of the other side that are left. */
    private enum OtherSide {
        CONNECTED,

        /** Nothing follows what is in the ring. */
        OUTPUT_SHUTDOWN,

        GONE
    }

    private final SharedMemoryChannel channel;
    private final RingTurns turns;
    private final RingInput input;
    private OtherSide otherSide = OtherSide.CONNECTED;

    /** Null before both have met, and after the end. */
    private @Nullable RingPair rings;

    /** What is to come next is decided at the end of the turn. */
    private boolean inTurn;

    /** There is more to write than there was room for. */
    private boolean writeBlocked;

    RingTraffic(SharedMemoryChannel channel) {
        this.channel = channel;
        this.turns = new RingTurns(channel, this::turn);
        this.input = new RingInput(channel);
    }

    /** Both sides have mapped the file. */
    void begin(RingPair rings) {
        this.rings = rings;
    }

    /** Releases the memory. The other side was shown what was written before any listener heard of it. */
    void end() {
        input.releaseSpare();
        if (rings != null) {
            RingPair over = rings;
            rings = null; // only this event loop uses them, and asks for them each time
            over.close();
        }
    }

    /** A handler wants to read. */
    void beginRead() {
        input.begin();
        turns.queue();
    }

    /** Forgets that there was to be a read, as auto-read is off now. From any thread. */
    void clearRead() {
        if (!channel.isRegistered() || channel.eventLoop().inEventLoop()) {
            input.clear();
        } else {
            channel.eventLoop().execute(() -> {
                if (!channel.config().isAutoRead()) {
                    input.clear();
                }
            });
        }
    }

    /** The input is shut down on this side: what the other one writes is dropped. */
    void inputShutdown() {
        turns.queue();
    }

    /** The output is shut down on this side, which the other one is to know. */
    void outputShutdown() {
        writeBlocked = false;
        if (rings != null) {
            Doorbell.ringLast(channel.socket());
        }
    }

    /** The other side has rung. */
    void woken() {
        turn();
    }

    /** The other side has shut down its output. It says so before it goes, as nothing follows its end. */
    void otherOutputShutdown() {
        otherSide = OtherSide.OUTPUT_SHUTDOWN;
    }

    /** The other side has closed the socket, or has been killed, or this side's event loop ends. */
    void otherSideGone() {
        otherSide = OtherSide.GONE;
        if (channel.eventLoop().isShuttingDown()) {
            channel.closeNow(); // no later turn is certain
        } else {
            turn();
        }
    }

    /** Reads and writes what can be, and comes back as long as more may come soon. */
    private void turn() {
        turns.begin();
        inTurn = true;
        try {
            if (moveBytes()) {
                turns.moved();
            }
            if (rings != null) {
                waitForMore(rings);
            }
        } catch (Throwable e) { // a channel that cannot read would wait for ever
            channel.fail(e);
        } finally {
            inTurn = false;
        }
    }

    /** Returns whether any was moved. */
    private boolean moveBytes() throws IOException {
        boolean moved = rings != null && input.read(rings);
        if (writeBlocked && rings != null) {
            moved |= writeOn();
        }
        return moved;
    }

    /** Writes what there was no room for; returns whether any of it was written. */
    private boolean writeOn() {
        ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
        long before = out == null ? 0 : out.totalPendingWriteBytes();
        channel.writeOn();
        out = channel.unsafe().outboundBuffer();
        return out != null && out.totalPendingWriteBytes() < before;
    }

    private void waitForMore(RingPair rings) throws IOException {
        if (otherSide != OtherSide.CONNECTED && rings.reader().available() == 0) {
            if (otherSide == OtherSide.GONE) {
                channel.closeNow();
                return;
            }
            input.end();
            if (!channel.isOpen()) {
                return;
            }
        }
        boolean reads = input.isPending();
        if (otherSide == OtherSide.GONE && !reads && !channel.isWritable()) {
            failWrites();
            return;
        }
        if (!reads && !writeBlocked) {
            return;
        }
        if (turns.sinceMoved() < channel.settings().spinNanos()) {
            turns.queue();
            return;
        }
        boolean mayRead = reads && !rings.reader().beforeSleep();
        if (!mayRead) {
            input.releaseSpare();
        }
        boolean mayWrite = writeBlocked && !rings.writer().beforeSleep();
        if (mayRead || mayWrite) {
            turns.queue();
        }
    }

    /** Writes what is flushed, as far as there is room. */
    void write(ChannelOutboundBuffer out) throws Exception {
        try {
            writeRing(out);
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }

    private void writeRing(ChannelOutboundBuffer out) throws Exception {
        writeBlocked = false;
        // To fail what cannot be written as the peer is gone would end the channel, with what the peer wrote before.
        RingPair rings = this.rings;
        while (rings != null && !writeBlocked && otherSide != OtherSide.GONE && !out.isEmpty()) {
            long written = rings.filling().fill(out);
            writeBlocked = rings.filling().isFull();
            rings.flush(channel.socket());
            out.removeBytes(written); // which tells listeners, who may write more, or close the channel
            rings = this.rings;
        }
        if (!inTurn && rings != null && !out.isEmpty()) {
            turns.queue();
        }
    }

    /** A program that reads when it can write again would otherwise wait for ever. One that does not read ends. */
    private void failWrites() {
        IOException cause = new IOException("shared memory: the other side is gone");
        ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
        int before = out == null ? 0 : out.size(); // whoever is told may write more
        for (int left = before; out != null && left > 0; left--) {
            out.remove(cause);
            out = channel.unsafe().outboundBuffer();
        }
        if (before > 0 && !input.isPending() && !channel.isWritable()) {
            channel.closeNow();
        }
    }
}
