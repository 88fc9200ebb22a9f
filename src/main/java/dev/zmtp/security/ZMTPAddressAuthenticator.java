package dev.zmtp.security;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Accepts peers from a set of IP addresses, with any mechanism, and denies all others. {@link #and} combines it with
 * another authenticator. Thread safe.
 *
 * <p>An entry is an address such as {@code 192.0.2.7} or {@code 2001:db8::7}, or a network such as
 * {@code 192.0.2.0/24}.
 *
 * <p>A peer without an IP address is denied. This includes every peer of a Unix domain socket. Leave this authenticator
 * out of the config of such a server, and let the permissions of the socket's directory control access.
 */
public final class ZMTPAddressAuthenticator implements ZMTPAuthenticator {

    private static final class Range {
        /** The first bytes of an IPv4 address that is written as an IPv6 address (RFC 4291, section 2.5.5.2). */
        private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xff, (byte) 0xff};

        private static final int MAPPED_PREFIX = MAPPED.length * Byte.SIZE;

        private final byte[] address;
        private final int bits;

        private Range(byte[] address, int bits) {
            this.address = address;
            this.bits = bits;
        }

        static Range of(String text) {
            int slash = text.indexOf('/');
            byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
            if (address == null) {
                throw new IllegalArgumentException("address: " + text + " (expected: as 192.0.2.0/24 or 2001:db8::7)");
            }
            int length = address.length * Byte.SIZE;
            int bits = slash < 0 ? length : bits(text, slash + 1, length);
            // Java converts the address of such a peer to IPv4.
            return isMappedIPv4(address) && bits >= MAPPED_PREFIX
                    ? new Range(
                            Arrays.copyOfRange(address, MAPPED_PREFIX / Byte.SIZE, address.length),
                            bits - MAPPED_PREFIX)
                    : new Range(address, bits);
        }

        /** Returns whether this is an address as {@code ::ffff:192.0.2.7}. */
        private static boolean isMappedIPv4(byte[] address) {
            return address.length > MAPPED.length && Arrays.equals(address, 0, MAPPED.length, MAPPED, 0, MAPPED.length);
        }

        private static int bits(String text, int at, int most) {
            String digits = text.substring(at);
            int bits = digits.matches("\\d{1,3}") ? Integer.parseInt(digits) : -1;
            if (bits < 0 || bits > most) {
                throw new IllegalArgumentException("address: " + text + " (expected: 0 to " + most + " after the /)");
            }
            return bits;
        }

        boolean contains(byte[] other) {
            if (other.length != address.length) {
                return false;
            }
            for (int i = 0, left = bits; left > 0; i++, left -= Byte.SIZE) {
                int mask = left >= Byte.SIZE ? 0xff : 0xff00 >>> left;
                if (((address[i] ^ other[i]) & mask & 0xff) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private volatile List<Range> ranges;

    private ZMTPAddressAuthenticator(List<Range> ranges) {
        this.ranges = ranges;
    }

    /**
     * Returns an authenticator that accepts these addresses.
     *
     * @throws IllegalArgumentException if an entry is not an IP address or a network; names are not looked up
     */
    public static ZMTPAddressAuthenticator of(Collection<String> addresses) {
        return new ZMTPAddressAuthenticator(addresses.stream().map(Range::of).toList());
    }

    /**
     * Replaces the accepted addresses. Existing connections remain open.
     *
     * @throws IllegalArgumentException as in {@link #of}; the addresses then remain unchanged
     */
    public void replace(Collection<String> addresses) {
        ranges = addresses.stream().map(Range::of).toList();
    }

    @Override
    public CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request) {
        boolean known = request.peerAddress() instanceof InetSocketAddress address
                && address.getAddress() != null
                && contains(address.getAddress().getAddress());
        return CompletableFuture.completedStage(
                known ? ZMTPAuthDecision.accept("") : ZMTPAuthDecision.deny("address " + request.peerAddress()));
    }

    private boolean contains(byte[] address) {
        return ranges.stream().anyMatch(range -> range.contains(address));
    }

    /** Returns the number of entries as text. */
    @Override
    public String toString() {
        return "ZMTPAddressAuthenticator{" + ranges.size() + " ranges}";
    }
}
