package dev.zmtp.fuzz;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.util.Arrays;
import java.util.List;

/** Frames and commands after a complete handshake in ZMTP 2.0, 3.0 or 3.1, under any limits. */
public final class TrafficFuzz {

    private TrafficFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Input input = new Input(bytes);
        ZMTPVersion version = input.of(ZMTPVersion.ZMTP31, ZMTPVersion.ZMTP30, ZMTPVersion.ZMTP20);
        EventLoopThread.run(() -> run(version, input));
    }

    /** What follows a handshake in {@code version}, compared with what the {@link Model} finds there. */
    static void run(ZMTPVersion version, Input input) {
        ZMTPSocketType wanted = input.of(ZMTPSocketType.values());
        ZMTPSocketType type = wanted.isDraft() && !version.hasCommands() ? ZMTPSocketType.PAIR : wanted;
        ZMTPCodec.Builder codec = ZMTPCodec.builder().socketType(type);
        FuzzedCodec.decoded(FuzzedCodec.limited(codec, input), input).maxHandshakeCommandLength(100);
        ZMTPCodec built = codec.build();
        var setup = FuzzedConnection.Setup.of(input);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = FuzzedCodec.stream(input);
        try (FuzzedConnection conversation = new FuzzedConnection(built, setup)) {
            conversation.hear(Hex.bytes(ScriptedPeer.greeting(version, peerOf(type))));
            FuzzFailure.unless(conversation.isInTraffic(), "behind a valid handshake", conversation.heard());
            conversation.hear(stream, reads);
            compare(conversation, new Model(version, built.session().config(), stream), type);
        }
    }

    static ZMTPSocketType peerOf(ZMTPSocketType type) {
        return Arrays.stream(ZMTPSocketType.values())
                .filter(type::accepts)
                .findFirst()
                .orElseThrow();
    }

    private static void compare(FuzzedConnection conversation, Model model, ZMTPSocketType type) {
        String failure = conversation.failure();
        List<String> heard = conversation.messages();
        boolean anyMessages = !type.isPublisher() && !type.isSendOnly();
        if (model.hasCommands() || conversation.isEndedByApplication()) {
            // What a command may be the model does not know: it may end the stream earlier.
            List<String> first = model.messages()
                    .subList(0, Math.min(heard.size(), model.messages().size()));
            FuzzFailure.unless(!anyMessages || heard.equals(first), "messages before the end", heard);
        } else {
            FuzzFailure.unless(!anyMessages || heard.equals(model.messages()), "messages", heard);
            FuzzFailure.unlessEqual(failure.replaceFirst(" (?s).*", ""), model.fault(), "failure");
        }
    }
}
