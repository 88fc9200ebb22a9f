package dev.zmtp.codec.transports;

import dev.zmtp.testing.TestTransport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The transports that only Netty 4.2 has. */
@Tag("netty-4.2-only")
@ParameterizedClass(name = "{0}")
@EnumSource(
        names = {
            "NIO_UNIX",
            "SHARED_MEMORY",
            "EPOLL_SHARED_MEMORY",
            "IO_URING",
            "IO_URING_RING",
            "IO_URING_UNIX",
            "IO_URING_ABSTRACT"
        })
class Netty42TransportsTest extends TransportContract {

    Netty42TransportsTest(TestTransport transport) {
        super(transport);
    }
}
