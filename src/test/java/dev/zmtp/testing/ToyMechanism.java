package dev.zmtp.testing;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A mechanism of the shape of PLAIN and CURVE, as weak as it can be: two steps, an answer that comes from elsewhere, and
 * frames that are sent with every byte inverted and their flags inside.
 *
 * <pre>
 *   client: HELLO password         server: asks, then WELCOME
 *   client: INITIATE metadata      server: READY metadata
 * </pre>
 *
 * <p>It shares nothing with the library but the SPI, as a user's own mechanism would.
 */
public final class ToyMechanism implements ZMTPMechanism {

    /** Which side of the handshake this is, and what it does next. */
    private enum State {
        SEND_HELLO,
        AWAIT_WELCOME,
        SEND_INITIATE,
        AWAIT_READY,
        AWAIT_HELLO,
        AWAIT_ANSWER,
        SEND_WELCOME,
        AWAIT_INITIATE,
        SEND_READY,
        READY
    }

    /** Decides about the password: now, later, or never. */
    @FunctionalInterface
    public interface Asked {
        /** Called on the event loop with what to call when the answer is yes. */
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
        return new ToyMechanism(context, false, password, (said, yes) -> {});
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
    public ByteBuf poll() {
        switch (state) {
            case SEND_HELLO -> {
                state = State.AWAIT_WELCOME;
                return named("HELLO").writeBytes(password.getBytes(StandardCharsets.US_ASCII));
            }
            case AWAIT_ANSWER -> {
                if (!allowed) {
                    return null;
                }
                state = State.AWAIT_INITIATE;
                return named("WELCOME");
            }
            case SEND_INITIATE -> {
                state = State.AWAIT_READY;
                return metadata(named("INITIATE"));
            }
            case SEND_READY -> {
                state = State.READY;
                return metadata(named("READY"));
            }
            default -> {
                return null;
            }
        }
    }

    private ByteBuf named(String name) {
        ByteBuf body = context.alloc().buffer().writeByte(name.length());
        ByteBufUtil.writeAscii(body, name);
        return body;
    }

    private ByteBuf metadata(ByteBuf body) {
        ZMTPMetadata local = context.localMetadata();
        for (int i = 0; i < local.size(); i++) {
            body.writeByte(local.name(i).length());
            ByteBufUtil.writeAscii(body, local.name(i));
            body.writeInt(local.value(i).remaining()).writeBytes(local.value(i));
        }
        return body;
    }

    @Override
    public void receive(ByteBuf command) {
        String name = command.readCharSequence(command.readUnsignedByte(), StandardCharsets.US_ASCII)
                .toString();
        switch (state + " " + name) {
            case "AWAIT_HELLO HELLO" -> {
                state = State.AWAIT_ANSWER;
                asked.ask(command.toString(StandardCharsets.US_ASCII), this::allow);
            }
            case "AWAIT_WELCOME WELCOME" -> state = State.SEND_INITIATE;
            case "AWAIT_INITIATE INITIATE" -> {
                peer = context.readPeerMetadata(command);
                state = State.SEND_READY;
            }
            case "AWAIT_READY READY" -> {
                peer = context.readPeerMetadata(command);
                state = State.READY;
            }
            default ->
                throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", name, "another one in " + state);
        }
    }

    /** The answer was yes. From any thread. */
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
    public ByteBuf refuse(ZMTPException cause) {
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

    /** The sealed form of a frame, for a peer that is scripted. */
    public static ByteBuf sealed(int flags, String body) {
        ByteBuf out = Unpooled.buffer();
        new Inverting().seal(flags, Unpooled.wrappedBuffer(Hex.octets(body)), out);
        return out;
    }

    /** A byte that marks it as sealed, the flags, and the inverted body. */
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
