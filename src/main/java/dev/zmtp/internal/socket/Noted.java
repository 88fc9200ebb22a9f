package dev.zmtp.internal.socket;

import org.jspecify.annotations.Nullable;

/** The numbers of the messages in a {@link Gathering} that are for one peer and were not sent to it yet. */
final class Noted {

    /** The holder of the messages. */
    interface Keeper {
        /** Sends the peer what was noted for it. */
        void send(Peer to);
    }

    /** A bit for each number. */
    private long numbers;

    private @Nullable Keeper keeper;

    boolean isEmpty() {
        return numbers == 0;
    }

    int count() {
        return Long.bitCount(numbers);
    }

    void add(Keeper of, int number) {
        keeper = of;
        numbers |= 1L << number;
    }

    /** Sends them to the peer. */
    void send(Peer to) {
        if (keeper != null) {
            keeper.send(to);
        }
    }

    /** Returns the lowest number, which then is not noted any more. */
    int next() {
        int number = Long.numberOfTrailingZeros(numbers);
        numbers &= numbers - 1;
        return number;
    }

    void clear() {
        numbers = 0;
    }
}
