package dev.zmtp.fuzz;

/** A connection from its first byte: anything that a stranger sends, to a codec of any version. */
public final class GreetingFuzz {

    private GreetingFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        var codec = FuzzedCodec.any(input).build();
        var setup = FuzzedConnection.Setup.of(input);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = FuzzedCodec.stream(input);
        try (FuzzedConnection conversation = new FuzzedConnection(codec, setup)) {
            conversation.hear(stream, reads);
        }
    }
}
