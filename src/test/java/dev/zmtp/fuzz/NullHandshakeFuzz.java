package dev.zmtp.fuzz;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;

/** Anything a 3.x peer sends after a valid greeting. */
public final class NullHandshakeFuzz {

    private static final byte[] GREETING_31 = Hex.bytes(ScriptedPeer.GREETING);
    private static final byte[] GREETING_30 = Hex.bytes(ScriptedPeer.SIGNATURE + "03 00 " + ScriptedPeer.NULL);

    private NullHandshakeFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        byte[] greeting = input.of(GREETING_31, GREETING_30);
        var codec = FuzzedCodec.any(input)
                .protocol(ZMTPVersion.ZMTP31)
                .interop(true)
                .build();
        var setup = FuzzedConnection.Setup.of(input);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = FuzzedCodec.stream(input);
        try (FuzzedConnection conversation = new FuzzedConnection(codec, setup)) {
            conversation.hear(greeting);
            FuzzFailure.unless(conversation.heard().isEmpty(), "behind a valid greeting", conversation.heard());
            conversation.hear(stream, reads);
        }
    }
}
