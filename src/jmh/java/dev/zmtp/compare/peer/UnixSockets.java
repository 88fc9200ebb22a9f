package dev.zmtp.compare.peer;

import dev.zmtp.shm.SharedMemoryAddress;
import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The addresses of Unix domain sockets, which are files with numbers in their names: so they fit where ports do. The
 * programs that share them have the same working directory.
 */
enum UnixSockets {
    /** Those of the JDK. */
    JDK {
        @Override
        SocketAddress address(Path path) {
            return UnixDomainSocketAddress.of(path);
        }
    },
    /** Those of Netty's native transports. */
    NATIVE {
        @Override
        SocketAddress address(Path path) {
            return new DomainSocketAddress(path.toString());
        }
    },
    /** Those where two programs meet that share memory. */
    SHARED_MEMORY {
        @Override
        SocketAddress address(Path path) {
            return new SharedMemoryAddress(path);
        }
    };

    private static final String PREFIX = "socket-";
    private static final Path DIRECTORY = Path.of("target", "compare");
    private static final int LAST = 65_535;

    abstract SocketAddress address(Path path);

    /** Returns the address with this number; 0 is any that is free. */
    SocketAddress address(int number) {
        Path path = path(number);
        while (number == 0 && (path.equals(path(0)) || path.toFile().exists())) {
            path = path(ThreadLocalRandom.current().nextInt(1, LAST + 1));
        }
        path.toFile().deleteOnExit(); // a program that is told to end does not close its channels
        return address(path);
    }

    private static Path path(int number) {
        return DIRECTORY.resolve(PREFIX + number);
    }

    /** Returns the number of an address. */
    static int number(SocketAddress address) {
        String path = address.toString();
        return Integer.parseInt(path.substring(path.lastIndexOf(PREFIX) + PREFIX.length()));
    }
}
