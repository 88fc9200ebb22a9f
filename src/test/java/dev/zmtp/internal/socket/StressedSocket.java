package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.RecordedOrigin;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** The inside of a socket on a {@link StressedLoop}, for two threads to meet in. */
public class StressedSocket {

    private static final int MOST_SPINS = 200;

    public final StressedLoop loop = new StressedLoop();
    public final SocketCore core;

    public StressedSocket(ZMTPSocketConfig config) {
        core = new SocketCore(config, Map.of(), loop, ClockedSockets.STATS, () -> {});
    }

    /** A message of one frame, which no allocator counts. */
    public static ZMTPMessage message(String text) {
        return ZMTPMessage.from(Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII)));
    }

    /** Waits for a moment, so that the shorter of two calls meets the longer one at its beginning or at its end. */
    public static void pause() {
        for (int spins = ThreadLocalRandom.current().nextInt(MOST_SPINS); spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }

    /** Gives the peer a connection, whose channel takes all that it is given. */
    public final Channel connect(Peer peer) {
        PeerHandler link = new PeerHandler(core.context(), core, new RecordedOrigin(new ArrayList<>()));
        EmbeddedChannel channel = new EmbeddedChannel(link);
        peer.up(link);
        return channel;
    }
}
