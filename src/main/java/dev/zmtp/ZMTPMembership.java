package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Request of a DISH to join or to leave a group of a RADIO (RFC 48, draft). Groups match exactly, not by prefix.
 *
 * <p>To send a request, write it to the channel of a DISH. A RADIO channel fires each request that its peer sends.
 *
 * <p>Immutable, with nothing to release.
 */
public final class ZMTPMembership {

    /** Maximum length of a group's name, in bytes. */
    public static final int MAX_GROUP_LENGTH = 255;

    private final boolean join;
    private final byte[] group;

    private ZMTPMembership(boolean join, byte[] group) {
        if (group.length > MAX_GROUP_LENGTH) {
            throw new IllegalArgumentException(
                    "group length: " + group.length + " (expected: <= " + MAX_GROUP_LENGTH + ")");
        }
        this.join = join;
        this.group = group;
    }

    /** Requests the messages to {@code group} in UTF-8, at most 255 bytes. */
    public static ZMTPMembership join(CharSequence group) {
        return new ZMTPMembership(true, group.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Requests the messages to the group named by the readable bytes, at most 255, which are copied. */
    public static ZMTPMembership join(ByteBuf group) {
        return new ZMTPMembership(true, ByteBufUtil.getBytes(group));
    }

    /** Ends the membership in {@code group} in UTF-8, at most 255 bytes. */
    public static ZMTPMembership leave(CharSequence group) {
        return new ZMTPMembership(false, group.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Ends the membership in the group named by the readable bytes, at most 255, which are copied. */
    public static ZMTPMembership leave(ByteBuf group) {
        return new ZMTPMembership(false, ByteBufUtil.getBytes(group));
    }

    /** Returns true to join, false to leave. */
    public boolean isJoin() {
        return join;
    }

    /** Returns the group as a read-only heap buffer that needs no release. */
    public ByteBuf group() {
        return Unpooled.wrappedBuffer(group).asReadOnly();
    }

    /** Returns the group, decoded as UTF-8. */
    public String groupUTF8() {
        return new String(group, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ZMTPMembership that && join == that.join && Arrays.equals(group, that.group);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(group) + Boolean.hashCode(join);
    }

    @Override
    public String toString() {
        return "ZMTPMembership{" + (join ? "join " : "leave ") + Printable.bytes(group()) + "}";
    }
}
