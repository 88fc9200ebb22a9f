package dev.zmtp.security;

import java.nio.ByteBuffer;

/** What is in native memory. */
final class LibsodiumMemories {

    private LibsodiumMemories() {}

    /** All of the memory in which libsodium works for this thread. */
    static byte[] content() {
        ByteBuffer memory = LibsodiumMemory.ofThread().content();
        byte[] content = new byte[memory.remaining()];
        memory.get(content);
        return content;
    }
}
