package dev.zmtp.fuzz;

import dev.zmtp.ZMTPVersion;

/** Frames after a complete handshake in ZMTP 1.0, under any limits. */
public final class OldTrafficFuzz {

    private OldTrafficFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> TrafficFuzz.run(ZMTPVersion.ZMTP10, new Input(bytes)));
    }
}
