package dev.zmtp.internal.connection;

import io.netty.channel.Channel;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A method that the channels of several native transports share without a common type. None of the transports is a
 * dependency, so the method is found by its name.
 */
public final class TransportMethod {

    private final ClassValue<@Nullable Method> found;

    /** Creates a method that calls the public method of this name without parameters. */
    public TransportMethod(String name) {
        found = new ClassValue<>() {
            @Override
            protected @Nullable Method computeValue(Class<?> channel) {
                try {
                    return channel.getMethod(name);
                } catch (NoSuchMethodException e) {
                    return null;
                }
            }
        };
    }

    /**
     * Returns the result of the channel's method; null if the channel does not have the method.
     *
     * @throws ReflectiveOperationException if the call has failed, for example because the socket is closed
     */
    public @Nullable Object call(Channel channel) throws ReflectiveOperationException {
        Method method = found.get(channel.getClass());
        return method == null ? null : method.invoke(channel);
    }

    /** Returns the result of calling a public method without parameters on {@code returned}. */
    public static Object value(Object returned, String name) throws ReflectiveOperationException {
        return returned.getClass().getMethod(name).invoke(returned);
    }
}
