package dev.zmtp.internal.write;

import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The promises of the messages that end in the open buffer, in the order of their writes, and how many messages these
 * are.
 *
 * <p>When the buffer goes to the transport they are {@linkplain #take taken} with it, and complete with the result of
 * its write. Void promises are not kept; it is only remembered that there are some.
 */
final class WritePromises {

    private static final int MIN_CAPACITY = 4;

    /** More promises than that are seldom in a buffer, and the list would be large for those after it. */
    private static final int MAX_CAPACITY = 1024;

    private @Nullable List<ChannelPromise> waiting;
    private boolean hasVoid;

    /** How many messages end in the open buffer. */
    private int messages;

    private int messagesPerPromise = 1;

    /** How many promises the last buffer had: most likely the next one has as many, and its list need not grow. */
    private int capacity = MIN_CAPACITY;

    /** Promises that are added from now on are of messages, or of what does not count as one. */
    void areOfMessages(boolean ofMessages) {
        messagesPerPromise = ofMessages ? 1 : 0;
    }

    /** Returns 1 while promises are of messages, 0 while they are of what does not count as one. */
    int messagesPerPromise() {
        return messagesPerPromise;
    }

    /** Adds the promise of a message that ends in the open buffer. */
    void add(ChannelPromise promise) {
        messages += messagesPerPromise;
        if (promise.isVoid()) {
            hasVoid = true;
            return;
        }
        if (waiting == null) {
            waiting = new ArrayList<>(capacity);
        }
        waiting.add(promise);
    }

    /** Returns whether one of the promises is void. */
    boolean hasVoid() {
        return hasVoid;
    }

    /** Returns how many messages end in the open buffer. */
    int messages() {
        return messages;
    }

    /** Returns the promises, which are the caller's to complete, and forgets them; null if none is kept. */
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

    /** Takes promises back whose buffer could not be sent: they come before those of the open buffer. */
    void putBack(List<ChannelPromise> failed) {
        List<ChannelPromise> all = new ArrayList<>(failed);
        if (waiting != null) {
            all.addAll(waiting);
        }
        waiting = all;
    }

    /** Fails all promises. Their listeners may write again, which is not for these promises any more. */
    void fail(Throwable cause) {
        List<ChannelPromise> failed = take();
        if (failed != null) {
            fail(failed, cause);
        }
    }

    /** Fails the first {@code count} promises, if they are still there. */
    void failFirst(int count, Throwable cause) {
        List<ChannelPromise> all = waiting;
        if (all == null) {
            return;
        }
        waiting = count == all.size() ? null : new ArrayList<>(all.subList(count, all.size()));
        fail(all.subList(0, count), cause);
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
