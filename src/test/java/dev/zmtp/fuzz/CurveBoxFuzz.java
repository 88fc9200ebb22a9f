package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.CurveForge;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;

/** Metadata and frames from a peer of a CURVE server that has a valid key, in boxes that open. */
public final class CurveBoxFuzz {

    private static final byte[] GREETING = Hex.bytes(ScriptedPeer.SIGNATURE + "03 01 \"CURVE\" 00*15 00*32");

    private CurveBoxFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        var codec = FuzzedCodec.limited(
                        FuzzedCodec.any(input).protocol(ZMTPVersion.ZMTP31).interop(true), input)
                .maxHandshakeCommandLength(1 << 16);
        var setup = FuzzedConnection.Setup.of(input);
        int frames = input.choice(6);
        byte[] metadata = input.choice(3) == 0 ? input.bytes(input.oneByte()) : CurveForge.metadata(input.oneByte());
        CurveForge forge = new CurveForge();
        try (FuzzedConnection conversation =
                new FuzzedConnection(forge.server(codec).build(), setup)) {
            conversation.hear(GREETING);
            conversation.hear(forge.hello());
            conversation.hear(forge.initiate(conversation.sent(), metadata));
            for (int i = 0; i < frames; i++) {
                conversation.hear(forge.message(input.oneByte(), input.bytes(input.oneByte())));
            }
            conversation.hear(input.rest());
        } catch (ZMTPException e) {
            throw new FuzzFailure("thrown: " + e, e);
        }
    }
}
