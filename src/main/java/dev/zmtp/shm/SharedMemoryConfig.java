package dev.zmtp.shm;

import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Settings of a {@link SharedMemoryChannel}. */
final class SharedMemoryConfig extends DefaultChannelConfig {

    private static final int DEFAULT_CAPACITY = 256 << 10;
    private static final int DEFAULT_SPIN_MICROS = 50;

    private volatile int ringCapacity = DEFAULT_CAPACITY;
    private volatile int spinMicros = DEFAULT_SPIN_MICROS;
    private volatile boolean allowHalfClosure;

    private final SharedMemoryChannel owner;

    SharedMemoryConfig(SharedMemoryChannel channel) {
        super(channel);
        owner = channel;
    }

    @Override
    protected void autoReadCleared() {
        owner.traffic().clearRead();
    }

    int ringCapacity() {
        return ringCapacity;
    }

    /** Returns whether this side continues to write after the other side has shut down its output. */
    boolean allowsHalfClosure() {
        return allowHalfClosure;
    }

    /** Returns the time to spin, in nanoseconds. {@code Long.MAX_VALUE} means forever. */
    long spinNanos() {
        return spinMicros == Integer.MAX_VALUE ? Long.MAX_VALUE : TimeUnit.MICROSECONDS.toNanos(spinMicros);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(
                super.getOptions(),
                ChannelOption.ALLOW_HALF_CLOSURE,
                SharedMemoryChannelOption.RING_CAPACITY,
                SharedMemoryChannelOption.SPIN_MICROS);
    }

    @Override
    @SuppressWarnings("unchecked") // the option says of what type its value is
    public <T> T getOption(ChannelOption<T> option) {
        if (option.equals(SharedMemoryChannelOption.RING_CAPACITY)) {
            return (T) Integer.valueOf(ringCapacity);
        }
        if (option.equals(SharedMemoryChannelOption.SPIN_MICROS)) {
            return (T) Integer.valueOf(spinMicros);
        }
        if (option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
            return (T) Boolean.valueOf(allowHalfClosure);
        }
        return super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option.equals(SharedMemoryChannelOption.RING_CAPACITY)) {
            ringCapacity = Ring.checkCapacity((Integer) value);
            return true;
        }
        if (option.equals(SharedMemoryChannelOption.SPIN_MICROS)) {
            int micros = (Integer) value;
            if (micros < 0) {
                throw new IllegalArgumentException("SPIN_MICROS: " + micros + " (expected: >= 0)");
            }
            spinMicros = micros;
            return true;
        }
        if (option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
            allowHalfClosure = (Boolean) value;
            return true;
        }
        return super.setOption(option, value);
    }
}
