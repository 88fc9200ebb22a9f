package dev.zmtp.packaging;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * A small program that uses the library as a stranger does: the tests here run it as a module in a JVM of its own, and
 * as a bundle. It must not use anything of the tests.
 */
public final class SmallProgram implements Callable<String> {

    /** What {@link #call} returns, and {@link #main} prints, where CURVE has no library to compute with. */
    static final String OUTCOME = "ROUTER heard hello, without CURVE";

    /** The same where it has one. */
    static final String OUTCOME_WITH_CURVE = "ROUTER heard hello, with CURVE";

    /**
     * Sends a request from a socket to another, and a message from a DEALER to a ROUTER with an authenticator. Returns
     * what arrived, and whether CURVE is available. The optional dependencies are not where this runs.
     */
    @Override
    public String call() {
        return (answered() ? heard() : "no answer") + (hasCurve() ? ", with CURVE" : ", without CURVE");
    }

    /** Sends a request from a socket to another. */
    private static boolean answered() {
        try (ZMTPSocket server = ZMTPSocket.of(ZMTPSocketType.REP);
                ZMTPSocket client = ZMTPSocket.of(ZMTPSocketType.REQ)) {
            server.serve(request -> request.reply(request.message()));
            server.bind("inproc://small");
            client.connect("inproc://small");
            ZMTPMessage answer = client.request(ZMTPMessage.fromUTF8("hello"), Duration.ofSeconds(10));
            boolean same = answer.frameUTF8(0).equals("hello");
            answer.release();
            return same;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static boolean hasCurve() {
        try {
            ZMTPCurveKeyPair.generate();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private static String heard() {
        EmbeddedChannel dealer = new EmbeddedChannel(ZMTPCodec.of(ZMTPSocketType.DEALER));
        EmbeddedChannel router = new EmbeddedChannel(ZMTPCodec.builder()
                .socketType(ZMTPSocketType.ROUTER)
                .authenticator(ZMTPAuthenticator.acceptAll())
                .build());
        dealer.writeOutbound(ZMTPMessage.fromUTF8("hello"));
        for (int turn = 0; turn < 10; turn++) {
            carry(dealer, router);
            carry(router, dealer);
        }
        ZMTPMessage heard = router.readInbound();
        String outcome = "ROUTER heard " + (heard == null ? "nothing" : text(heard));
        dealer.finishAndReleaseAll();
        router.finishAndReleaseAll();
        return outcome;
    }

    private static String text(ZMTPMessage message) {
        try {
            return message.frame(0).toString(StandardCharsets.UTF_8);
        } finally {
            message.release();
        }
    }

    private static void carry(EmbeddedChannel from, EmbeddedChannel to) {
        for (ByteBuf bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            to.writeInbound(bytes);
        }
    }

    /** Prints the outcome. */
    public static void main(String[] args) {
        System.out.println(new SmallProgram().call());
    }
}
