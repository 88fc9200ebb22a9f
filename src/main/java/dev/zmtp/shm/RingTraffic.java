package dev.zmtp.shm;

import dev.zmtp.internal.runtime.LoopHooks;
import io.netty.channel.ChannelOutboundBuffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Bytes that a channel moves through its two rings, turn by turn on its event loop. */
final class RingTraffic {

    /** Remaining parts of the other side. */
    private enum OtherSide {
        CONNECTED,

        /** No data follows the content of the ring. */
        OUTPUT_SHUTDOWN,

        GONE
    }

    private final SharedMemoryChannel channel;
    private final RingTurns turns;
    private final RingInput input;
    private OtherSide otherSide = OtherSide.CONNECTED;

    /** Null before the meeting is complete, and after the end. */
    private @Nullable RingPair rings;

    /** Whether a turn is running, at whose end the next step is determined. */
    private boolean inTurn;

    /** Whether a later turn has to write some of the flushed data, usually because there was no room for it. */
    private boolean writeBlocked;

    /** Number of bytes written, ever. */
    private long written;

    RingTraffic(SharedMemoryChannel channel) {
        this.channel = channel;
        this.turns = new RingTurns(channel, this::turn);
        this.input = new RingInput(channel);
    }

    /** Begins the traffic after both sides have mapped the file. */
    void begin(RingPair rings) {
        this.rings = rings;
    }

    /** Releases the memory. The other side has already been shown the written data before any listener is notified. */
    void end() {
        input.releaseSpare();
        if (rings != null) {
            RingPair over = rings;
            rings = null; // only this event loop uses them, and asks for them each time
            over.close();
        }
    }

    /** Requests a read for a handler. */
    void beginRead() {
        input.begin();
        turns.queue();
    }

    /** Cancels the pending read, because auto-read is now off. Can be called from any thread. */
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

    /** Shuts down the input on this side, after which data from the other side is dropped. */
    void inputShutdown() {
        turns.queue();
    }

    /** Shuts down the output on this side, and signals this to the other side. */
    void outputShutdown() {
        writeBlocked = false;
        if (rings != null) {
            Doorbell.ringLast(channel.socket());
        }
    }

    /** Called after the other side has rung. */
    void woken() {
        turn();
    }

    /**
     * Called after the other side has shut down its output. It reports this before it leaves, because nothing follows
     * its end.
     */
    void otherOutputShutdown() {
        otherSide = OtherSide.OUTPUT_SHUTDOWN;
    }

    /** Called after the other side has closed the socket or was killed, or when this side's event loop ends. */
    void otherSideGone() {
        otherSide = OtherSide.GONE;
        turn();
    }

    /** Reads and writes as much as possible, and queues another turn while more data can follow soon. */
    private void turn() {
        if (channel.eventLoop().isShuttingDown()) {
            LoopHooks.run(); // no later turn is certain, and a task in each pass would keep Netty from running them
            LoopHooks.close(channel); // on a loop of a type that has no actions
            return;
        }
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

    /** Returns whether any byte was moved. */
    private boolean moveBytes() throws IOException {
        boolean moved = rings != null && input.read(rings);
        if (writeBlocked && rings != null) {
            moved |= writeOn();
        }
        return moved;
    }

    /** Writes data that was left for this turn. Returns whether any byte was written. */
    private boolean writeOn() {
        long before = written;
        channel.writeOn();
        return written != before; // pending data says nothing, as listeners can write more
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

    /** Writes flushed data, as far as there is room. */
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
        int left = channel.config().getWriteSpinCount(); // the reader and the listeners could continue forever
        while (rings != null && !writeBlocked && otherSide != OtherSide.GONE && !out.isEmpty()) {
            long filled = rings.filling().fill(out);
            writeBlocked = rings.filling().isFull();
            rings.flush(channel.socket());
            written += filled;
            out.removeBytes(filled); // which tells listeners, who may write more, or close the channel
            writeBlocked |= --left == 0 && !out.isEmpty();
            rings = this.rings;
        }
        if (!inTurn && rings != null && !out.isEmpty()) {
            turns.queue();
        }
    }

    /**
     * Fails the pending writes, because a program that reads only when it can write again would otherwise wait forever.
     * If there were any, closes a channel that does not read and is not writable.
     */
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
