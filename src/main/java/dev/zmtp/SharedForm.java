package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Encoded bytes of a message, created for the first channel and shared by the others. ZMTP 1.0 has its own form, and
 * all later versions share a form because they frame messages in the same way.
 *
 * <p>Thread safe. If two event loops create the form at the same time, one of them uses the form of the other.
 */
final class SharedForm {

    private final AtomicReferenceArray<@Nullable ByteBuf> forms = new AtomicReferenceArray<>(2);

    /** Lets the channels of the message share its bytes, unless they do already. From any thread. */
    static void attachTo(FrameList message) {
        synchronized (message) { // two publishers can send it at the same time
            if (message.shared == null) {
                message.shared = new SharedForm();
            }
        }
    }

    /** Returns the bytes of {@code message} with separate indices, to be released by the caller. */
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

    /** Releases the forms. No caller receives them after this. */
    void release() {
        for (int i = 0; i < forms.length(); i++) {
            ByteBuf form = forms.getPlain(i);
            if (form != null) {
                form.release();
            }
        }
    }
}
