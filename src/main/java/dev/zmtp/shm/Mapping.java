package dev.zmtp.shm;

import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * Memory of a file, in native byte order. Netty unmaps it up to Java 23. From Java 24 on an {@code Arena} unmaps it,
 * which this class looks up by name because it is compiled for Java 17.
 */
abstract class Mapping implements AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Mapping.class);

    private static final int FIRST_JAVA_WITH_ARENAS = 24;
    private static final String FOREIGN = "java.lang.foreign.";

    private final ByteBuffer memory;

    private Mapping(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.nativeOrder());
    }

    /** Maps the first {@code size} bytes of a file. */
    static Mapping of(FileChannel file, long size) throws IOException {
        if (hasArenas()) {
            return OfArena.map(file, size);
        }
        return new OfBuffer(file.map(MapMode.READ_WRITE, 0, size));
    }

    private static boolean hasArenas() {
        return Runtime.version().feature() >= FIRST_JAVA_WITH_ARENAS
                && System.getProperty("org.graalvm.nativeimage.imagecode") == null; // nothing is found by name there
    }

    ByteBuffer memory() {
        return memory;
    }

    /** Unmaps the memory. No thread may use it afterwards. */
    @Override
    public abstract void close();

    private static final class OfBuffer extends Mapping {

        OfBuffer(MappedByteBuffer memory) {
            super(memory);
        }

        @Override
        @SuppressWarnings("deprecation") // for any direct buffer; what takes its place is for Netty's own
        public void close() {
            try {
                PlatformDependent.freeDirectBuffer(memory());
            } catch (UnsupportedOperationException e) {
                logger.debug("shared memory: the collector unmaps it", e); // io.netty.noUnsafe
            }
        }
    }

    private static final class OfArena extends Mapping {

        /** Arena that any thread can close. Later accesses fail and do not crash the process. */
        private final AutoCloseable arena;

        private OfArena(AutoCloseable arena, ByteBuffer memory) {
            super(memory);
            this.arena = arena;
        }

        static Mapping map(FileChannel file, long size) throws IOException {
            try {
                Class<?> type = Class.forName(FOREIGN + "Arena");
                Method map = FileChannel.class.getMethod("map", MapMode.class, long.class, long.class, type);
                Method asBuffer = Class.forName(FOREIGN + "MemorySegment").getMethod("asByteBuffer");
                AutoCloseable arena = (AutoCloseable) type.getMethod("ofShared").invoke(null);
                try {
                    Object segment = map.invoke(file, MapMode.READ_WRITE, 0L, size, arena);
                    return new OfArena(arena, (ByteBuffer) asBuffer.invoke(segment));
                } catch (Throwable e) {
                    close(arena);
                    throw e;
                }
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e); // all of this is there since Java 22
            }
        }

        @Override
        public void close() {
            close(arena);
        }

        private static void close(AutoCloseable arena) {
            try {
                arena.close();
            } catch (Exception e) {
                logger.warn("shared memory: not unmapped", e);
            }
        }
    }
}
