package dev.zmtp.internal.connection;

import io.netty.channel.Channel;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A method that the channels of several native transports have, but no type in common. None of the transports is a
 * dependency, so it is found by its name.
 */
public final class TransportMethod {

    private final ClassValue<@Nullable Method> found;

    /** Creates one that calls the public method of this name, which has no parameters. */
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
     * Returns what the channel's method returns; null if the channel has none.
     *
     * @throws ReflectiveOperationException if it has failed, as when the socket is closed
     */
    public @Nullable Object call(Channel channel) throws ReflectiveOperationException {
        Method method = found.get(channel.getClass());
        return method == null ? null : method.invoke(channel);
    }

    /** Returns the value of a public method without parameters of what was returned. */
    public static Object value(Object returned, String name) throws ReflectiveOperationException {
        return returned.getClass().getMethod(name).invoke(returned);
    }
}
