package dev.zmtp.attack;

import java.io.IOException;
import java.util.List;

/**
 * A server to attack, and beside it a twin, a server of the same kind that nobody attacks. They may be attacked several
 * times, one after the other.
 *
 * <p>What slows down both is the load of the machine, that of the attackers included, and not what the attack does to its
 * server.
 */
final class ServerAndTwin implements AutoCloseable {

    private final Service service;
    private final ServerProcess server;
    private final ServerProcess twin;
    private final ServerAddresses address;
    private final ServerAddresses addressOfTwin;

    /** Starts them, with these options for the JVM. */
    ServerAndTwin(Library library, Service service, List<String> options) throws IOException, InterruptedException {
        this.service = service;
        server = new ServerProcess(library, service, options);
        twin = new ServerProcess(library, service, options);
        address = server.awaitAddresses();
        addressOfTwin = twin.awaitAddresses();
    }

    Service service() {
        return service;
    }

    ServerProcess server() {
        return server;
    }

    ServerAddresses address() {
        return address;
    }

    ServerAddresses addressOfTwin() {
        return addressOfTwin;
    }

    /** Ends both processes. */
    @Override
    public void close() {
        server.close();
        twin.close();
    }
}
