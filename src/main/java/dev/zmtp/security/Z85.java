package dev.zmtp.security;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Encodes four bytes as five printable characters (RFC 32). Uses arrays instead of strings, because secrets must be
 * wiped.
 */
final class Z85 {

    private static final int BASE = 85;
    private static final int DIGITS = 5;
    private static final byte[] ALPHABET = alphabet();
    private static final byte[] VALUES = values();

    private Z85() {}

    private static byte[] alphabet() {
        String characters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
        byte[] alphabet = new byte[BASE];
        for (int i = 0; i < BASE; i++) {
            alphabet[i] = (byte) characters.charAt(i);
        }
        return alphabet;
    }

    private static byte[] values() {
        byte[] values = new byte[1 << Byte.SIZE];
        Arrays.fill(values, (byte) -1);
        for (int i = 0; i < BASE; i++) {
            values[ALPHABET[i]] = (byte) i;
        }
        return values;
    }

    /** Returns ASCII characters as bytes, and any other character as -1, which is not a Z85 character. */
    static byte[] bytes(char[] characters) {
        byte[] bytes = new byte[characters.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = characters[i] < 0x80 ? (byte) characters[i] : -1;
        }
        return bytes;
    }

    /** Returns the characters of {@code bytes}, whose number must be a multiple of four. */
    static byte[] encode(byte[] bytes) {
        byte[] characters = new byte[bytes.length / Integer.BYTES * DIGITS];
        ByteBuffer in = ByteBuffer.wrap(bytes);
        for (int at = 0; at < characters.length; at += DIGITS) {
            long number = Integer.toUnsignedLong(in.getInt());
            for (int i = DIGITS - 1; i >= 0; i--) {
                characters[at + i] = ALPHABET[(int) (number % BASE)];
                number /= BASE;
            }
        }
        return characters;
    }

    /**
     * Decodes {@code length} bytes, a multiple of four.
     *
     * @throws IllegalArgumentException if the characters are too few, too many or not valid Z85. The message contains
     *     {@code what} and the index, but no character, which could belong to a secret
     */
    static byte[] decode(String what, byte[] characters, int length) {
        int expected = length / Integer.BYTES * DIGITS;
        if (characters.length != expected) {
            throw new IllegalArgumentException(
                    what + " length: " + characters.length + " (expected: " + expected + " characters of Z85)");
        }
        ByteBuffer out = ByteBuffer.allocate(length);
        for (int at = 0; at < expected; at += DIGITS) {
            long number = 0;
            for (int i = at; i < at + DIGITS; i++) {
                int value = VALUES[characters[i] & 0xff];
                if (value < 0) {
                    throw new IllegalArgumentException(what + ": character " + (i + 1)
                            + " is not in the Z85 alphabet, 0-9 a-z A-Z .-:+=^!/*?&<>()[]{}@%$#");
                }
                number = number * BASE + value;
            }
            if (number >>> Integer.SIZE != 0) {
                throw new IllegalArgumentException(what + ": characters " + (at + 1) + " to " + (at + DIGITS)
                        + " encode more than 32 bits (expected: at most %nSc0)");
            }
            out.putInt((int) number);
        }
        return out.array();
    }
}
