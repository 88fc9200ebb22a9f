package dev.zmtp.internal.handshake;

import dev.zmtp.security.ZMTPPeerCredentials;
import io.netty.channel.Channel;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The peer of a Unix domain socket, as its channel knows it. The channels of epoll, io_uring and kqueue have a method
 * for that, but no type in common that has it. None of them is a dependency, so it is found by its name.
 */
final class UnixPeer {

    private static final ClassValue<@Nullable Method> CREDENTIALS = new ClassValue<>() {
        @Override
        protected @Nullable Method computeValue(Class<?> channel) {
            try {
                return channel.getMethod("peerCredentials");
            } catch (NoSuchMethodException e) {
                return null;
            }
        }
    };

    private UnixPeer() {}

    /** Returns who has connected, or null if {@code channel} is another one, or cannot tell. */
    static @Nullable ZMTPPeerCredentials credentials(Channel channel) {
        Method method = CREDENTIALS.get(channel.getClass());
        if (method == null) {
            return null;
        }
        try {
            Object found = method.invoke(channel);
            return new ZMTPPeerCredentials(
                    number(found, "pid"),
                    number(found, "uid"),
                    Arrays.stream((int[]) value(found, "gids"))
                            .mapToObj(Integer::toUnsignedLong)
                            .toList());
        } catch (ReflectiveOperationException e) { // the socket is closed
            return null;
        }
    }

    private static long number(Object credentials, String name) throws ReflectiveOperationException {
        return Integer.toUnsignedLong((int) value(credentials, name));
    }

    private static Object value(Object credentials, String name) throws ReflectiveOperationException {
        return credentials.getClass().getMethod(name).invoke(credentials);
    }
}
