package dev.zmtp.fuzz;

/** A connection from its first octet on: whatever a stranger says, to a codec of any version. */
public final class GreetingFuzz {

    private GreetingFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] octets) {
        EventLoopThread.run(() -> run(new Input(octets)));
    }

    private static void run(Input input) {
        var codec = Settings.any(input).build();
        var setup = Conversation.Setup.of(input);
        int[] reads = Settings.reads(input);
        byte[] stream = Settings.stream(input);
        try (Conversation conversation = new Conversation(codec, setup)) {
            conversation.hear(stream, reads);
        }
    }
}
