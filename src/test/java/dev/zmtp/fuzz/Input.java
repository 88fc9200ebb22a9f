package dev.zmtp.fuzz;

import java.util.Arrays;

/** Bytes that decide what a target does. The last is followed by endless zeros. */
final class Input {

    private final byte[] bytes;
    private int index;

    Input(byte... bytes) {
        this.bytes = bytes;
    }

    boolean isEmpty() {
        return index >= bytes.length;
    }

    /** The next byte, 0 to 255. */
    int oneByte() {
        return isEmpty() ? 0 : bytes[index++] & 0xff;
    }

    /** The next byte as a choice, 0 to {@code choices - 1}. */
    int choice(int choices) {
        return oneByte() % choices;
    }

    /** One of these, as the next byte chooses. */
    int number(int... choices) {
        return choices[choice(choices.length)];
    }

    /** One of these, as the next byte chooses. */
    @SafeVarargs
    final <T> T of(T... choices) {
        return choices[choice(choices.length)];
    }

    /** The next {@code count} bytes, or as many as there are. */
    byte[] bytes(int length) {
        int end = Math.min(bytes.length, index + length);
        byte[] taken = Arrays.copyOfRange(bytes, Math.min(index, end), end);
        index = end;
        return taken;
    }

    /** All bytes that are left. */
    byte[] rest() {
        return bytes(bytes.length);
    }
}
