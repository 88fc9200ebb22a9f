package dev.zmtp.internal.socket;

/** The numbers of the messages in a {@link Gathering} that are for one peer and were not sent to it yet. */
final class Noted {

    /** A bit for each number. */
    private long numbers;

    boolean isEmpty() {
        return numbers == 0;
    }

    int count() {
        return Long.bitCount(numbers);
    }

    void add(int number) {
        numbers |= 1L << number;
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
