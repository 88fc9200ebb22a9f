package dev.zmtp.codec.transports;

import dev.zmtp.testing.TestTransport;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The transports that Netty 4.1 and 4.2 have. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"NIO", "LOCAL", "EPOLL", "EPOLL_UNIX", "EPOLL_ABSTRACT"})
class TransportsTest extends TransportContract {

    TransportsTest(TestTransport transport) {
        super(transport);
    }
}
