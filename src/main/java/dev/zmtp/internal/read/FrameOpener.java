package dev.zmtp.internal.read;

import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Opens sealed frames. One that comes in several reads is opened as it arrives: all of a large one at once, at its end,
 * would hold the event loop.
 */
public final class FrameOpener {

    private final FrameCipher cipher;
    private final ByteBufAllocator alloc;

    /** How many bytes of the unfinished body were given to the cipher. */
    private long opened;

    public FrameOpener(FrameCipher cipher, ByteBufAllocator alloc) {
        this.cipher = cipher;
        this.alloc = alloc;
    }

    /** How many bytes longer a sealed body is. */
    public int overhead() {
        return cipher.sealedLength(0);
    }

    /**
     * Another {@code count} bytes of the body have arrived, which {@code reader} puts together and does not have whole.
     */
    public void arrived(FrameReader reader, int count) {
        ByteBuf body = reader.unfinishedBody();
        if (body != null) {
            // The reader puts the second half after the first, so there are twice as many bytes to open as arrive.
            opened = Math.min(body.readableBytes(), opened + 2L * count);
            body.retain(); // a cipher may close the channel, and the reader with it
            try {
                cipher.openPart(body, (int) opened);
            } finally {
                body.release();
            }
        }
    }

    /** Opens {@code body} in place, whose last bytes have arrived; returns the flags of the frame. */
    public int open(ByteBuf body) {
        opened = 0;
        return cipher.open(body);
    }

    /** Returns {@code body}, or a copy in its place if it is read-only. */
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
