package dev.zmtp.internal.read;

import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Opens sealed frames. A frame that arrives in several reads is opened in parts, because opening a large frame at its
 * end would block the event loop.
 */
public final class FrameOpener {

    private final FrameCipher cipher;
    private final ByteBufAllocator alloc;

    /** The number of bytes of the unfinished body that were passed to the cipher. */
    private long opened;

    public FrameOpener(FrameCipher cipher, ByteBufAllocator alloc) {
        this.cipher = cipher;
        this.alloc = alloc;
    }

    /** Returns the number of bytes by which a sealed body is longer than its content. */
    public int overhead() {
        return cipher.sealedLength(0);
    }

    /**
     * Opens a part of the body, because another {@code count} bytes of it have arrived. {@code reader} assembles the
     * body and does not have all of it yet.
     */
    public void arrived(FrameReader reader, int count) {
        ByteBuf body = reader.unfinishedBody();
        if (body != null) {
            // The reader appends the second half to the first, so twice as many bytes are opened as arrive.
            opened = Math.min(body.readableBytes(), opened + 2L * count);
            body.retain(); // a cipher can close the channel, and with it the reader
            try {
                cipher.openPart(body, (int) opened);
            } finally {
                body.release();
            }
        }
    }

    /** Opens {@code body} in place, after its last bytes have arrived. Returns the flags of the frame. */
    public int open(ByteBuf body) {
        opened = 0;
        return cipher.open(body);
    }

    /** Returns {@code body}, or a copy if it is read-only. */
    public ByteBuf writable(ByteBuf body) {
        if (!body.isReadOnly()) {
            return body;
        }
        try {
            return alloc.buffer(body.readableBytes()).writeBytes(body);
        } finally {
            body.release();
        }
    }
}
