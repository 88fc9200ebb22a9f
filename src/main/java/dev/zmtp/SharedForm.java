package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a message as it is sent, made for the first channel and shared by the others. There is one form for ZMTP
 * 1.0 and one for later versions, which frame messages in the same way.
 *
 * <p>Thread safe: if two event loops make the form at the same time, one of them takes that of the other.
 */
final class SharedForm {

    private final AtomicReferenceArray<@Nullable ByteBuf> forms = new AtomicReferenceArray<>(2);

    /** Returns the bytes of {@code message}, with indices of their own, and the caller's to release. */
    ByteBuf get(ZMTPMessage message, ByteBufAllocator alloc, ZMTPVersion version) {
        int layout = version.framing() == ZMTPFraming.V1 ? 0 : 1;
        ByteBuf form = forms.get(layout);
        if (form == null) {
            ByteBuf made = WireForm.of(message, alloc, version);
            ByteBuf earlier = forms.compareAndExchange(layout, null, made);
            if (earlier == null) {
                form = made;
            } else {
                made.release();
                form = earlier;
            }
        }
        return form.retainedDuplicate();
    }

    /** Releases the forms. No caller gets them any more. */
    void release() {
        for (int i = 0; i < forms.length(); i++) {
            ByteBuf form = forms.getPlain(i);
            if (form != null) {
                form.release();
            }
        }
    }
}
