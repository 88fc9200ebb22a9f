package dev.zmtp.fuzz;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.util.function.Supplier;

/**
 * The same bytes give the same events, however they are split, in turns of any length, with any decoder and any
 * buffers.
 */
public final class ChunkingFuzz {

    /** A read for each byte takes long, so only inputs of at most this length get that. */
    private static final int MAX_SINGLE = 2000;

    private ChunkingFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        byte[] settings = input.bytes(12);
        FuzzedConnection.Setup setup = FuzzedConnection.Setup.of(input);
        Parts.Manner manner = input.of(Parts.Manner.values());
        int[] reads = FuzzedCodec.reads(input);
        boolean greeted = input.choice(2) == 0;
        ZMTPVersion version = input.of(ZMTPVersion.values());
        byte[] stream = FuzzedCodec.stream(input);
        byte[] all = greeted ? behindGreeting(version, settings, stream) : stream;

        Supplier<ZMTPCodec.Builder> codecs = () -> FuzzedCodec.any(new Input(settings));
        FuzzedConnection.Setup plain =
                new FuzzedConnection.Setup(false, false, false, true, setup.lateClose(), setup.act());
        String whole = events(codecs.get(), plain, all);
        same(whole, events(codecs.get(), setup, all, reads), "in other reads");
        FuzzedConnection.Setup other = new FuzzedConnection.Setup(
                !setup.direct(), !setup.keep(), !setup.roomy(), true, setup.lateClose(), setup.act());
        same(whole, events(codecs.get(), other, all, reads), "in other buffers");
        same(whole, events(codecs.get().maxFramesPerRead(1), setup, all, reads), "in turns of one frame");
        same(whole, events(codecs.get().decoder(session -> new Parts(manner)), setup, all, reads), "with a decoder");
        if (all.length <= MAX_SINGLE) {
            same(whole, events(codecs.get(), setup, all, 1), "byte by byte");
        }
    }

    private static byte[] behindGreeting(ZMTPVersion version, byte[] settings, byte[] stream) {
        ZMTPSocketType ours =
                FuzzedCodec.any(new Input(settings)).build().session().config().socketType();
        ZMTPSocketType peer = TrafficFuzz.peerOf(ours);
        if (peer.isDraft() && !version.hasCommands()) {
            return stream;
        }
        byte[] greeting = Hex.bytes(ScriptedPeer.greeting(version, peer));
        byte[] all = new byte[greeting.length + stream.length];
        System.arraycopy(greeting, 0, all, 0, greeting.length);
        System.arraycopy(stream, 0, all, greeting.length, stream.length);
        return all;
    }

    private static String events(ZMTPCodec.Builder codec, FuzzedConnection.Setup setup, byte[] bytes, int... reads) {
        FuzzedConnection conversation = new FuzzedConnection(codec.build(), setup);
        try (conversation) {
            conversation.hear(bytes, reads);
        }
        StringBuilder events = new StringBuilder();
        conversation.heard().forEach(event -> events.append(event).append('\n'));
        events.append("passed on ").append(conversation.passedOn()).append('\n');
        if (setup.peerReads() && conversation.failure().isEmpty()) {
            events.append("sent ").append(conversation.sent());
        }
        return events.toString();
    }

    private static void same(String whole, String cut, String how) {
        // What was sent is only known where the peer reads it, and what was sent before a failure may be lost with it.
        boolean same = cut.contains("\nsent ") ? cut.equals(whole) : whole.startsWith(cut);
        FuzzFailure.unless(same, how, "\n" + cut + "\n(expected)\n" + whole);
    }
}
