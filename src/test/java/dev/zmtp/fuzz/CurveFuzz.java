package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * A client and a server of CURVE, and an attacker between them that changes, cuts, repeats, drops and
 * invents what they send.
 *
 * <p>Whatever is changed: each frame that arrives was sent, in this order and once; a side that notices ends the
 * connection. That whole frames are missing is no fault, as nonces may have gaps.
 */
public final class CurveFuzz {

    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("01*32"));
    private static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("02*32"));

    private static final int MAX_CARRIED = 60;
    private static final int MESSAGES = 3;

    private final Input input;
    private final Side client = new Side(ZMTPCodec.builder()
            .socketType(ZMTPSocketType.PAIR)
            .mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT))
            .handshakeExecutor(Runnable::run)
            .build());
    private final Side server = new Side(ZMTPCodec.builder()
            .socketType(ZMTPSocketType.PAIR)
            .mechanism(ZMTPCurve.server(SERVER))
            .authenticator(ZMTPPublicKeyAuthenticator.of(List.of(CLIENT.publicKey())))
            .handshakeExecutor(Runnable::run)
            .build());
    private int carried;
    private boolean touched;
    private byte[] last = {};

    private CurveFuzz(Input input) {
        this.input = input;
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> new CurveFuzz(new Input(bytes)).run());
    }

    /** One side, and what it receives. */
    private static final class Side extends ChannelInboundHandlerAdapter {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final List<String> said = new ArrayList<>();
        final List<String> heard = new ArrayList<>();
        boolean ready;
        int failures;

        Side(ZMTPCodec codec) {
            channel.freezeTime();
            channel.pipeline().addLast(codec, this);
        }

        void say() {
            for (int i = 0; i < MESSAGES; i++) {
                ZMTPMessage message = ZMTPMessage.fromUTF8("frame " + i, "", i + "x".repeat(i * 200));
                addFrames(message, said);
                channel.write(message);
            }
            channel.flush();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess) {
                ready = true;
            } else if (evt instanceof ZMTPHandshakeFailure failure) {
                failed(failure.cause());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            addFrames((ZMTPMessage) msg, heard);
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(cause);
        }

        private static void addFrames(ZMTPMessage message, List<String> frames) {
            message.forEach(frame -> frames.add(ByteBufUtil.hexDump(frame)));
        }

        private void failed(Throwable cause) {
            failures++;
            if (!(cause instanceof ZMTPException)) {
                throw new FuzzFailure("failure: " + cause, cause);
            }
        }
    }

    private void run() {
        try {
            boolean spoken = false;
            boolean moved = true;
            while (moved && carried < MAX_CARRIED) {
                boolean forth = carry(client, server);
                boolean back = carry(server, client);
                moved = forth || back;
                if (!moved && !spoken && client.ready && server.ready) {
                    spoken = true;
                    client.say();
                    server.say();
                    moved = true;
                }
            }
            check(client, server);
            check(server, client);
            FuzzFailure.unless(touched || spoken, "no handshake, though nobody has changed it", client.failures);
        } finally {
            client.channel.finishAndReleaseAll();
            server.channel.finishAndReleaseAll();
        }
    }

    private void check(Side speaker, Side listener) {
        FuzzFailure.unless(listener.failures <= 1, "failures", listener.failures);
        FuzzFailure.unless(
                listener.failures == 0 || !listener.channel.isOpen(), "open behind a failure", listener.failures);
        Iterator<String> said = speaker.said.iterator();
        for (String frame : listener.heard) {
            boolean found = false;
            while (!found && said.hasNext()) {
                found = said.next().equals(frame);
            }
            FuzzFailure.unless(found, "heard what was not said, or not then", listener.heard);
        }
        FuzzFailure.unless(
                touched || listener.heard.size() == speaker.said.size(), "lost, though nobody has", listener.heard);
    }

    private boolean carry(Side from, Side to) {
        boolean moved = false;
        from.channel.runPendingTasks();
        for (ByteBuf out = from.channel.readOutbound(); out != null; out = from.channel.readOutbound()) {
            byte[] bytes = new byte[out.readableBytes()];
            out.readBytes(bytes);
            out.release();
            carried++;
            moved = true;
            deliver(to, edited(bytes));
            last = bytes;
        }
        to.channel.runPendingTasks();
        return moved;
    }

    private byte[] edited(byte[] bytes) {
        if (input.isEmpty() || bytes.length == 0) {
            return bytes;
        }
        int edit = input.choice(8);
        touched |= edit != 0;
        int at = (input.oneByte() << 8 | input.oneByte()) % bytes.length;
        return switch (edit) {
            case 1 -> changed(bytes, at);
            case 2 -> Arrays.copyOf(bytes, at);
            case 3 -> joined(bytes, bytes);
            case 4 -> joined(last, bytes);
            case 5 -> input.bytes(1 + at % 64);
            case 6 -> joined(bytes, input.bytes(1 + at % 64));
            case 7 -> new byte[0];
            default -> bytes;
        };
    }

    private byte[] changed(byte[] bytes, int at) {
        byte[] changed = bytes.clone();
        changed[at] ^= (byte) Math.max(1, input.oneByte());
        return changed;
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    private static void deliver(Side to, byte[] bytes) {
        if (to.channel.isOpen() && bytes.length > 0) {
            to.channel.writeInbound(to.channel.alloc().buffer(bytes.length).writeBytes(bytes));
        }
    }
}
