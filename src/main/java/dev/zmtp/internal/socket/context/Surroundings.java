package dev.zmtp.internal.socket.context;

import dev.zmtp.internal.runtime.VirtualClock;
import dev.zmtp.internal.transport.Transport;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Clock, random numbers and transports of the sockets of an event loop. An event loop in virtual time implements this
 * interface. All other event loops have {@link #REAL} surroundings.
 */
public interface Surroundings extends VirtualClock {

    /** The clock of the process, random numbers without a seed, and the configured transports. */
    Surroundings REAL = new Surroundings() {
        @Override
        public long currentNanos() {
            return System.nanoTime();
        }

        @Override
        public long random() {
            return ThreadLocalRandom.current().nextLong();
        }

        @Override
        public Map<String, Transport> transports(Map<String, Transport> configured) {
            return configured;
        }
    };

    /** Returns the surroundings of the sockets of this event loop. */
    static Surroundings of(EventLoop loop) {
        return loop instanceof Surroundings surroundings ? surroundings : REAL;
    }

    /** Returns a random number, on any thread. */
    long random();

    /** Returns the transports by scheme, given those of the config. */
    Map<String, Transport> transports(Map<String, Transport> configured);
}
