package dev.zmtp.testing;

import io.netty.channel.Channel;
import java.util.concurrent.TimeUnit;

/**
 * A loopback address for one test class alone. A test that closes a server and binds another to the same port needs it:
 * on 127.0.0.1 a program beside it, or a connection of this one, may have got the port meanwhile.
 */
public final class OwnHost {

    private OwnHost() {}

    /** Closes the server, and waits until another may bind its address, which NIO frees in the loop's next select. */
    public static void close(Channel server) throws InterruptedException {
        server.close().sync();
        server.eventLoop().schedule(() -> {}, 1, TimeUnit.MILLISECONDS).sync();
    }

    /** Returns the address with this number, 1 to 254; 127.0.0.1 on systems that have no other one. */
    public static String of(int number) {
        return System.getProperty("os.name").equals("Linux") ? "127.87.65." + number : "127.0.0.1";
    }
}
