package dev.zmtp.fuzz;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.util.Map;

/** Anything the peer of a PLAIN server or a PLAIN client sends after a valid greeting. */
public final class PlainFuzz {

    private static final byte[] GREETING = Hex.bytes(ScriptedPeer.SIGNATURE + "03 01 \"PLAIN\" 00*15 00*32");
    private static final ZMTPPasswordAuthenticator PASSWORDS =
            ZMTPPasswordAuthenticator.of(Map.of("admin", "secret", "", ""));

    private PlainFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        boolean server = input.choice(2) == 0;
        ZMTPCodec.Builder codec =
                FuzzedCodec.any(input).protocol(ZMTPVersion.ZMTP31).interop(true);
        if (server) {
            codec.mechanism(ZMTPPlain.server()).authenticator(PASSWORDS);
        } else {
            codec.mechanism(ZMTPPlain.client("admin", "secret"));
        }
        var setup = FuzzedConnection.Setup.of(input);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = FuzzedCodec.stream(input);
        try (FuzzedConnection conversation = new FuzzedConnection(codec.build(), setup)) {
            conversation.hear(GREETING);
            FuzzFailure.unless(conversation.heard().isEmpty(), "behind a valid greeting", conversation.heard());
            conversation.hear(stream, reads);
        }
    }
}
