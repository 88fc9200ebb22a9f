package dev.zmtp.testing;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A mechanism with the shape of PLAIN and CURVE, and no security: two commands from each side, an answer that may come
 * later, and frames that are sent with all bytes inverted and with their flags inside.
 *
 * <pre>
 *   client: HELLO password         server: asks about it, then WELCOME
 *   client: INITIATE metadata      server: READY metadata
 * </pre>
 *
 * <p>It uses only the exported API, as a user's own mechanism would.
 */
public final class ToyMechanism implements ZMTPMechanism {

    private enum State {
        SEND_HELLO,
        AWAIT_WELCOME,
        SEND_INITIATE,
        AWAIT_READY,
        AWAIT_HELLO,
        AWAIT_ANSWER,
        AWAIT_INITIATE,
        SEND_READY,
        READY
    }

    /** Answers questions about a password: now, later, or never. */
    @FunctionalInterface
    public interface Asked {
        /** Called on the event loop; {@code yes} may run on any thread. */
        void ask(String password, Runnable yes);
    }

    /** How often this mechanism was closed. */
    public final AtomicInteger closed = new AtomicInteger();

    private final Context context;
    private final boolean server;
    private final Asked asked;
    private final String password;
    private volatile boolean allowed;
    private State state;
    private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

    private ToyMechanism(Context context, boolean server, String password, Asked asked) {
        this.context = context;
        this.server = server;
        this.password = password;
        this.asked = asked;
        this.state = server ? State.AWAIT_HELLO : State.SEND_HELLO;
    }

    /** A client with this password. */
    public static ToyMechanism client(Context context, String password) {
        return new ToyMechanism(context, false, password, (text, yes) -> {});
    }

    /** A server that asks {@code asked} about passwords. */
    public static ToyMechanism server(Context context, Asked asked) {
        return new ToyMechanism(context, true, "", asked);
    }

    @Override
    public String name() {
        return "TOY";
    }

    @Override
    public boolean isServer() {
        return server;
    }

    @Override
    public @Nullable ByteBuf poll() {
        return switch (state) {
            case SEND_HELLO -> {
                state = State.AWAIT_WELCOME;
                yield command("HELLO").writeBytes(password.getBytes(StandardCharsets.US_ASCII));
            }
            case AWAIT_ANSWER -> {
                if (!allowed) {
                    yield null;
                }
                state = State.AWAIT_INITIATE;
                yield command("WELCOME");
            }
            case SEND_INITIATE -> {
                state = State.AWAIT_READY;
                yield withMetadata(command("INITIATE"));
            }
            case SEND_READY -> {
                state = State.READY;
                yield withMetadata(command("READY"));
            }
            default -> null;
        };
    }

    private ByteBuf command(String name) {
        return context.command(name, 0);
    }

    private ByteBuf withMetadata(ByteBuf command) {
        context.writeMetadata(command);
        return command;
    }

    @Override
    public void receive(ByteBuf command) {
        switch (state) {
            case AWAIT_HELLO -> {
                context.expect(command, "HELLO");
                state = State.AWAIT_ANSWER;
                asked.ask(command.toString(StandardCharsets.US_ASCII), this::allow);
            }
            case AWAIT_WELCOME -> {
                context.expect(command, "WELCOME");
                state = State.SEND_INITIATE;
            }
            case AWAIT_INITIATE -> {
                context.expect(command, "INITIATE");
                peer = context.readPeerMetadata(command);
                state = State.SEND_READY;
            }
            case AWAIT_READY -> {
                context.expect(command, "READY");
                peer = context.readPeerMetadata(command);
                state = State.READY;
            }
            default ->
                throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", "out of turn", "none in " + state);
        }
    }

    private void allow() {
        allowed = true;
        context.resume();
    }

    @Override
    public boolean isReady() {
        return state == State.READY;
    }

    @Override
    public ZMTPMetadata peerMetadata() {
        return peer;
    }

    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return null;
    }

    @Override
    public FrameCipher cipher() {
        return new Inverting();
    }

    @Override
    public void close() {
        closed.incrementAndGet();
    }

    /** The sealed form of a frame, for a scripted peer. */
    public static ByteBuf sealed(int flags, String body) {
        ByteBuf out = Unpooled.buffer();
        new Inverting().seal(flags, Unpooled.wrappedBuffer(Hex.bytes(body)), out);
        return out;
    }

    /** A byte that marks a sealed frame, then the flags and the body, both inverted. */
    private static final class Inverting implements FrameCipher {
        private static final int MARK = 0x5a;

        @Override
        public int sealedLength(int length) {
            return 2 + length;
        }

        @Override
        public void seal(int flags, ByteBuf body, ByteBuf out) {
            out.writeByte(MARK).writeByte(~flags);
            for (int i = body.readerIndex(); i < body.writerIndex(); i++) {
                out.writeByte(~body.getByte(i));
            }
        }

        @Override
        public int open(ByteBuf sealed) {
            if (sealed.readableBytes() < 2 || sealed.readByte() != MARK) {
                throw ZMTPException.malformed("frame", "not sealed", "sealed");
            }
            int flags = ~sealed.readByte() & 0xff;
            for (int i = sealed.readerIndex(); i < sealed.writerIndex(); i++) {
                sealed.setByte(i, ~sealed.getByte(i));
            }
            return flags;
        }
    }
}
