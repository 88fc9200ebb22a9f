package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;

/** Protocol versions for {@code protocol(...)} of a config, under their netty4-zmtp names. */
public final class ZMTPProtocols {

    /** ZMTP 1.0. */
    public static final ZMTPVersion ZMTP10 = ZMTPVersion.ZMTP10;
    /** ZMTP 2.0. */
    public static final ZMTPVersion ZMTP20 = ZMTPVersion.ZMTP20;
    /** ZMTP 3.0. */
    public static final ZMTPVersion ZMTP30 = ZMTPVersion.ZMTP30;
    /** ZMTP 3.1, the default. */
    public static final ZMTPVersion ZMTP31 = ZMTPVersion.ZMTP31;

    private ZMTPProtocols() {}
}
