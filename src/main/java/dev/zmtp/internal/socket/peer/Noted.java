package dev.zmtp.internal.socket.peer;

import org.jspecify.annotations.Nullable;

/** The numbers of the messages in a {@code Gathering} that are for a peer and have not been sent to it yet. */
public final class Noted {

    /** The holder of the messages. */
    public interface Keeper {
        /** Sends the noted messages to the peer. */
        void send(Peer to);
    }

    /** Bit set of the numbers. */
    private long numbers;

    private @Nullable Keeper keeper;

    public boolean isEmpty() {
        return numbers == 0;
    }

    int count() {
        return Long.bitCount(numbers);
    }

    public void add(Keeper of, int number) {
        keeper = of;
        numbers |= 1L << number;
    }

    /** Sends the noted messages to the peer. */
    void send(Peer to) {
        if (keeper != null) {
            keeper.send(to);
        }
    }

    /** Removes and returns the lowest number. */
    public int next() {
        int number = Long.numberOfTrailingZeros(numbers);
        numbers &= numbers - 1;
        return number;
    }

    public void clear() {
        numbers = 0;
    }
}
