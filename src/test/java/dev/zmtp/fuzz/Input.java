package dev.zmtp.fuzz;

import java.util.Arrays;

/** Octets that decide what a target does. There are always more: zeros, behind the last. */
final class Input {

    private final byte[] octets;
    private int index;

    Input(byte... octets) {
        this.octets = octets;
    }

    boolean isEmpty() {
        return index >= octets.length;
    }

    /** The next octet, 0 to 255. */
    int octet() {
        return isEmpty() ? 0 : octets[index++] & 0xff;
    }

    /** The next octet as a choice, 0 to {@code choices - 1}. */
    int choice(int choices) {
        return octet() % choices;
    }

    /** One of these, as the next octet chooses. */
    int number(int... choices) {
        return choices[choice(choices.length)];
    }

    /** One of these, as the next octet chooses. */
    @SafeVarargs
    final <T> T of(T... choices) {
        return choices[choice(choices.length)];
    }

    /** So many of the next octets, or as many as there are. */
    byte[] octets(int length) {
        int end = Math.min(octets.length, index + length);
        byte[] taken = Arrays.copyOfRange(octets, Math.min(index, end), end);
        index = end;
        return taken;
    }

    /** All octets that are left. */
    byte[] rest() {
        return octets(octets.length);
    }
}
