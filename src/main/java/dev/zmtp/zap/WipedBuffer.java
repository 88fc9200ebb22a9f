package dev.zmtp.zap;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** A copy of a credential on the heap, which is wiped when its last owner has released it. */
final class WipedBuffer extends UnpooledHeapByteBuf {

    WipedBuffer(ByteBuffer credential) {
        super(UnpooledByteBufAllocator.DEFAULT, credential.remaining(), credential.remaining());
        writeBytes(credential.duplicate());
    }

    /** Returns copies of the credentials, which the caller releases. */
    static List<ByteBuf> copies(List<ByteBuffer> credentials) {
        return credentials.stream().<ByteBuf>map(WipedBuffer::new).toList();
    }

    @Override
    protected void freeArray(byte[] array) {
        Arrays.fill(array, (byte) 0);
    }
}
