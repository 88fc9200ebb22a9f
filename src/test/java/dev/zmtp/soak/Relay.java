package dev.zmtp.soak;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a proxied connection: takes bytes from the channel whose pipeline it is in, and writes them to the
 * other one, with the faults of that direction.
 *
 * <p>It reads one buffer, writes all of it, and only then reads the next one. Both channels are on one event loop, do
 * not read by themselves, and may be half-closed.
 */
final class Relay extends ChannelInboundHandlerAdapter {

    private static final int THROTTLED_OCTETS = 512;
    private static final int THROTTLED_MILLIS = 10;
    private static final int DELAY_MILLIS = 30;
    private static final int CHOPS = 300;
    private static final int CHOP_OCTETS = 8;

    private final Queue<ProxyFault> faults = new ArrayDeque<>();
    private final Consumer<ProxyFault> fired;
    private final Random random;

    private Channel in;
    private Channel out;
    private Relay back;

    private long relayed;
    private @Nullable ByteBuf chunk;
    private @Nullable Future<?> timer;
    private boolean atEnd;
    private boolean silent;
    private boolean discards;
    private int chops;
    private long throttledUntil;
    private long delayedUntil;

    /** A relay with these faults, each of which is reported to {@code fired}. */
    Relay(List<ProxyFault> faults, Consumer<ProxyFault> fired, Random random) {
        faults.stream().sorted(Comparator.comparingLong(ProxyFault::at)).forEach(this.faults::add);
        this.fired = fired;
        this.random = random;
        throttledUntil = System.nanoTime();
        delayedUntil = throttledUntil;
    }

    /** Sets the channels that bytes come from and go to, and the relay of the other direction. */
    void between(Channel in, Channel out, Relay back) {
        this.in = in;
        this.out = out;
        this.back = back;
    }

    /** The number of bytes that were relayed. */
    long relayed() {
        return relayed;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf bytes = (ByteBuf) msg;
        if (discards) {
            bytes.release();
            in.read();
            return;
        }
        chunk = bytes;
        relay();
    }

    /** Relays the next piece of the chunk, or does what is due before it. */
    private void relay() {
        timer = null;
        ByteBuf rest = chunk;
        if (rest == null || silent) {
            return;
        }
        if (!rest.isReadable()) {
            rest.release();
            chunk = null;
            in.read();
            return;
        }
        ProxyFault due = faults.peek();
        if (due != null && due.at() <= relayed) {
            faults.remove();
            fired.accept(due);
            apply(due);
            return;
        }
        int length = rest.readableBytes();
        if (due != null) {
            length = (int) Math.min(length, due.at() - relayed);
        }
        if (chops > 0) {
            chops--;
            length = Math.min(length, 1 + random.nextInt(CHOP_OCTETS));
        }
        long now = System.nanoTime();
        int wait = delayedUntil - now > 0 ? random.nextInt(DELAY_MILLIS) : 0;
        if (throttledUntil - now > 0) {
            length = Math.min(length, THROTTLED_OCTETS);
            wait += THROTTLED_MILLIS;
        }
        ByteBuf piece = rest.readRetainedSlice(length);
        relayed += length;
        if (wait == 0) {
            write(piece);
        } else {
            // A timer that is cancelled must not leak the piece: it is taken back until then.
            rest.readerIndex(rest.readerIndex() - length);
            piece.release();
            int delayed = length;
            later(wait, () -> write(rest.readRetainedSlice(delayed)));
        }
    }

    private void write(ByteBuf piece) {
        out.writeAndFlush(piece).addListener((ChannelFuture written) -> {
            if (written.isSuccess()) {
                in.eventLoop().execute(this::relay); // not from here: many small pieces would be a deep stack
            } else {
                reset();
            }
        });
    }

    private void later(int millis, Runnable task) {
        timer = in.eventLoop().schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    private void apply(ProxyFault fault) {
        switch (fault.kind()) {
            case STALL -> later(fault.millis(), this::relay);
            case THROTTLE -> {
                throttledUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(fault.millis());
                relay();
            }
            case DELAY -> {
                delayedUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(fault.millis());
                relay();
            }
            case CHOP -> {
                chops = CHOPS;
                relay();
            }
            case CLOSE -> {
                in.close();
                out.close();
            }
            case RESET -> reset();
            case HALF_CLOSE -> {
                discards = true;
                dropChunk();
                in.read();
                end();
            }
            case SILENCE -> {
                silent = true;
                back.silent = true;
                dropChunk();
                later(fault.millis(), this::reset);
            }
        }
    }

    private void reset() {
        reset(in);
        reset(out);
    }

    private static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof ChannelInputShutdownEvent) {
            end();
        }
    }

    /** No more bytes come: reports that to the other side, and closes when that has ended its output too. */
    private void end() {
        if (atEnd) {
            return;
        }
        atEnd = true;
        if (back.atEnd) {
            in.close();
            out.close();
        } else {
            ((SocketChannel) out).shutdownOutput();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        dropChunk();
        if (timer != null) {
            timer.cancel(false);
        }
        if (atEnd && back.atEnd) {
            return;
        }
        if (out != null) {
            reset(out); // unless it is closed already: both are closed together
        }
    }

    private void dropChunk() {
        if (chunk != null) {
            chunk.release();
            chunk = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        reset(); // mostly a connection that was reset: so is the other one
    }
}
