package dev.zmtp.internal.runtime;

import io.netty.handler.codec.DecoderException;
import java.util.regex.Pattern;

/** The causes of failures that Netty reports. */
public final class Causes {

    /** Maximum number of characters of a text. */
    private static final int MAX_LENGTH = 1_024;

    /** Control characters, and those that end or reverse a line. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+");

    private Causes() {}

    /**
     * Returns the failure, or its cause if a decoder of Netty only wraps it. A decoder does so with exceptions of
     * others, such as those of TLS. A subclass has a meaning of its own.
     */
    public static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getClass() == DecoderException.class ? failure.getCause() : null;
        return cause == null ? failure : cause;
    }

    /**
     * Returns the text of a failure on a single line. Handlers of others, such as that of TLS, put the bytes of a peer
     * into it, which could forge a line of the log or fill it.
     */
    public static String line(String text) {
        boolean isLong = text.length() > MAX_LENGTH;
        String shown = isLong ? text.substring(0, MAX_LENGTH) : text;
        String line = UNPRINTABLE.matcher(shown).replaceAll(" ");
        return isLong ? line + ".. " + text.length() + " characters" : line;
    }
}
