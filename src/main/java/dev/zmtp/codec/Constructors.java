package dev.zmtp.codec;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;

/** Creates instances of user-defined classes. */
final class Constructors {

    private Constructors() {}

    /** Returns a factory that creates an encoder for each connection. */
    static ZMTPEncoder.Factory encoder(Class<? extends ZMTPEncoder> type) {
        Constructor<? extends ZMTPEncoder> constructor = of(type);
        return new ZMTPEncoder.Factory() {
            @Override
            public ZMTPEncoder encoder(ZMTPSession session) {
                return call(constructor);
            }

            @Override
            public String toString() {
                return type.getSimpleName();
            }
        };
    }

    /** Returns a factory that creates a decoder for each connection. */
    static ZMTPDecoder.Factory decoder(Class<? extends ZMTPDecoder> type) {
        Constructor<? extends ZMTPDecoder> constructor = of(type);
        return new ZMTPDecoder.Factory() {
            @Override
            public ZMTPDecoder decoder(ZMTPSession session) {
                return call(constructor);
            }

            @Override
            public String toString() {
                return type.getSimpleName();
            }
        };
    }

    private static <T> Constructor<T> of(Class<T> type) {
        try {
            Constructor<T> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor;
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(
                    type.getName() + ": no constructor without arguments (expected: one)", e);
        }
    }

    private static <T> T call(Constructor<T> constructor) {
        try {
            return constructor.newInstance();
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(constructor + " failed", e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(constructor + " cannot be called", e);
        }
    }
}
