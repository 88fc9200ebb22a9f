package dev.zmtp.internal.runtime;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The key that groups the connections of a peer: its IPv4 address, or its IPv6 network. */
public final class AddressKey {

    /** The key of a connection without an internet address. Limits per address do not apply to it. */
    public static final String NONE = "";

    private static final int IPV6_LENGTH = 16;
    private static final int IPV6_NETWORK_LENGTH = 8;

    private AddressKey() {}

    /**
     * Returns the address without its port, or the /64 of an IPv6 address, because a single host usually controls all
     * of it.
     */
    public static String of(@Nullable SocketAddress peer) {
        if (!(peer instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return NONE;
        }
        byte[] bytes = internet.getAddress().getAddress();
        if (bytes.length < IPV6_LENGTH) {
            return NetUtil.bytesToIpAddress(bytes);
        }
        Arrays.fill(bytes, IPV6_NETWORK_LENGTH, IPV6_LENGTH, (byte) 0);
        return NetUtil.bytesToIpAddress(bytes) + "/64";
    }
}
