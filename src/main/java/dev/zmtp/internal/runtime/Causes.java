package dev.zmtp.internal.runtime;

import io.netty.handler.codec.DecoderException;

/** The causes of failures that Netty reports. */
public final class Causes {

    private Causes() {}

    /**
     * Returns the failure, or its cause if a decoder of Netty only wraps it. A decoder does so with exceptions of
     * others, such as those of TLS. A subclass has a meaning of its own.
     */
    public static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getClass() == DecoderException.class ? failure.getCause() : null;
        return cause == null ? failure : cause;
    }
}
