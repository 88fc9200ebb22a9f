package dev.zmtp.internal.write;

import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The promises of the messages that end in the open buffer, in the order of their writes, and the number of these
 * messages.
 *
 * <p>When the buffer is passed to the transport, its promises are {@linkplain #take taken} with it, and complete with
 * the result of its write. Void promises are not kept, except for a flag that there are any.
 */
final class WritePromises {

    private static final int MIN_CAPACITY = 4;

    /** Maximum initial capacity. A buffer rarely has more promises, and later buffers would get an oversized list. */
    private static final int MAX_CAPACITY = 1024;

    private @Nullable List<ChannelPromise> waiting;
    private boolean hasVoid;

    /** The number of messages that end in the open buffer. */
    private int messages;

    private int messagesPerPromise = 1;

    /**
     * The number of promises of the last buffer. The next buffer most likely has as many, and its list need not grow.
     */
    private int capacity = MIN_CAPACITY;

    /** Sets whether promises added from now on belong to messages, or to frames that do not count as messages. */
    void areOfMessages(boolean ofMessages) {
        messagesPerPromise = ofMessages ? 1 : 0;
    }

    /** Returns 1 while promises belong to messages, 0 while they belong to frames that do not count as messages. */
    int messagesPerPromise() {
        return messagesPerPromise;
    }

    /** Adds the promise of a message that ends in the open buffer. */
    void add(ChannelPromise promise) {
        if (promise.isVoid()) {
            hasVoid = true;
        } else {
            if (waiting == null) {
                waiting = new ArrayList<>(capacity);
            }
            waiting.add(promise);
        }
        messages += messagesPerPromise;
    }

    /** Returns whether any of the promises is void. */
    boolean hasVoid() {
        return hasVoid;
    }

    /** Returns the number of messages that end in the open buffer. */
    int messages() {
        return messages;
    }

    /** Removes and returns the promises, which the caller must complete; null if none is kept. */
    @Nullable
    List<ChannelPromise> take() {
        List<ChannelPromise> taken = waiting;
        if (taken != null) {
            capacity = Math.max(MIN_CAPACITY, Math.min(taken.size(), MAX_CAPACITY));
        }
        waiting = null;
        hasVoid = false;
        messages = 0;
        return taken;
    }

    /** Puts back promises whose buffer could not be sent, before those of the open buffer. */
    void putBack(List<ChannelPromise> failed) {
        List<ChannelPromise> all = new ArrayList<>(failed);
        if (waiting != null) {
            all.addAll(waiting);
        }
        waiting = all;
    }

    /** Fails all promises. Their listeners can write again, which does not add to these promises. */
    void fail(Throwable cause) {
        List<ChannelPromise> failed = take();
        if (failed != null) {
            fail(failed, cause);
        }
    }

    /** Fails promises that were put back and then perhaps failed, or taken together with later ones. */
    void failAgain(List<ChannelPromise> failed, Throwable cause) {
        List<ChannelPromise> all = waiting;
        int count = failed.size();
        if (all != null && all.size() >= count && all.subList(0, count).equals(failed)) {
            waiting = count == all.size() ? null : new ArrayList<>(all.subList(count, all.size()));
        }
        fail(failed, cause);
    }

    /** Fails promises that were taken. */
    static void fail(List<ChannelPromise> failed, Throwable cause) {
        failed.forEach(promise -> promise.tryFailure(cause));
    }

    /** Completes promises that were taken. */
    static void succeed(List<ChannelPromise> sent) {
        for (int i = 0; i < sent.size(); i++) {
            sent.get(i).trySuccess();
        }
    }
}
