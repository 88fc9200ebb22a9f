package dev.zmtp.zap;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A copy of a credential on the heap, which is wiped when its last owner has released it. */
final class WipedBuffer extends UnpooledHeapByteBuf {

    WipedBuffer(ByteBuffer credential) {
        super(UnpooledByteBufAllocator.DEFAULT, credential.remaining(), credential.remaining());
        writeBytes(credential.duplicate());
    }

    @Override
    protected void freeArray(byte[] array) {
        Arrays.fill(array, (byte) 0);
    }
}
