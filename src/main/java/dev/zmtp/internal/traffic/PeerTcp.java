package dev.zmtp.internal.traffic;

import io.netty.channel.Channel;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * The peer's kernel, as ours knows it by Linux's {@code TCP_INFO}. The channels of epoll and io_uring have a method for
 * that, but no type in common that has it. Neither is a dependency, so it is found by its name.
 */
final class PeerTcp {

    /** The second probe of a closed window is sent only if there was time to acknowledge the first. */
    private static final int PROBES = 2;

    private static final ClassValue<@Nullable Method> TCP_INFO = new ClassValue<>() {
        @Override
        protected @Nullable Method computeValue(Class<?> channel) {
            try {
                return channel.getMethod("tcpInfo");
            } catch (NoSuchMethodException e) {
                return null;
            }
        }
    };

    private PeerTcp() {}

    /**
     * Returns whether the peer's kernel is known to have acknowledged nothing for so long, though ours has sent it
     * bytes again, or asks for room. One that has no room, and says so, is not silent. False for other transports,
     * which do not know.
     */
    static boolean isSilent(Channel channel, long millis) {
        Method method = TCP_INFO.get(channel.getClass());
        if (method == null) {
            return false;
        }
        try {
            Object info = method.invoke(channel);
            return number(info, "lastAckRecv") >= millis
                    && (number(info, "probes") >= PROBES
                            || (number(info, "unacked") > 0 && number(info, "retransmits") > 0));
        } catch (ReflectiveOperationException e) { // the socket is closed
            return false;
        }
    }

    private static long number(Object info, String name) throws ReflectiveOperationException {
        return ((Number) info.getClass().getMethod(name).invoke(info)).longValue();
    }
}
