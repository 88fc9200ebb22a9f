package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;

/** A membership as a value. */
class ZMTPMembershipTest {

    @Test
    void aMembershipSaysWhatItIs() {
        ZMTPMembership join = ZMTPMembership.join("\u20ac");
        ZMTPMembership leave = ZMTPMembership.leave("\u20ac");

        assertThat(join.isJoin()).isTrue();
        assertThat(leave.isJoin()).isFalse();
        assertThat(join.groupUTF8()).isEqualTo("\u20ac");
        assertThat(Hex.dump(leave.group())).isEqualTo("e282ac");
    }

    @Test
    void theBytesOfAGroupAreCopied() {
        ByteBuf group = Hex.buffer("aa 01 ff").skipBytes(1);
        ZMTPMembership join = ZMTPMembership.join(group);
        ZMTPMembership leave = ZMTPMembership.leave(group);
        assertThat(group.readableBytes()).isEqualTo(2);
        group.setZero(0, 3);
        group.release();

        assertThat(Hex.dump(join.group())).isEqualTo("01ff");
        assertThat(Hex.dump(leave.group())).isEqualTo("01ff");
        assertThat(join.group().isReadOnly()).isTrue();
    }

    @Test
    void membershipsInTheSameGroupAreEqual() {
        ByteBuf group = Hex.buffer("\"grp\"");
        ZMTPMembership membership = ZMTPMembership.join("grp");

        assertThat(membership)
                .isEqualTo(ZMTPMembership.join(group))
                .hasSameHashCodeAs(ZMTPMembership.join(group))
                .isNotEqualTo(ZMTPMembership.leave(group))
                .isNotEqualTo(ZMTPMembership.join("gr"))
                .isNotEqualTo("grp");
        assertThat(membership.hashCode())
                .isNotEqualTo(ZMTPMembership.leave("grp").hashCode())
                .isNotEqualTo(ZMTPMembership.join("grq").hashCode());
        group.release();
    }

    @Test
    void theLongestGroupHas255Bytes() {
        assertThat(ZMTPMembership.join("g".repeat(255)).group().readableBytes()).isEqualTo(255);
        assertThat(ZMTPMembership.leave("").group().isReadable()).isFalse();
    }

    @Test
    void aLongerGroupIsRefused() {
        ByteBuf group = Hex.buffer("67*256");

        assertThatThrownBy(() -> ZMTPMembership.join("\u20ac".repeat(86)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("group length: 258 (expected: <= 255)");
        assertThatThrownBy(() -> ZMTPMembership.leave(group))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("group length: 256 (expected: <= 255)");
        group.release();
    }

    @Test
    void toStringIsSafeForAnyGroup() {
        ByteBuf binary = Hex.buffer("0a 1b");

        assertThat(ZMTPMembership.join("grp")).hasToString("ZMTPMembership{join \"grp\"}");
        assertThat(ZMTPMembership.leave(binary)).hasToString("ZMTPMembership{leave 0x0a1b}");
        binary.release();
    }
}
