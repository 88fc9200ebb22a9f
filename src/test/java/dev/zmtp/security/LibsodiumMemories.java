package dev.zmtp.security;

import java.nio.ByteBuffer;

/** What is in native memory. */
final class LibsodiumMemories {

    private LibsodiumMemories() {}

    /** All of the memory in which libsodium has worked for this thread. */
    static byte[] content(Libsodium libsodium) {
        LibsodiumMemory memory = libsodium.memory();
        ByteBuffer bytes = memory.content();
        byte[] content = new byte[bytes.remaining()];
        bytes.get(content);
        memory.wipe(); // the use is over
        return content;
    }
}
