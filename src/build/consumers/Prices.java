package example;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.metrics.ZMTPMetrics;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import io.quarkus.runtime.Startup;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Serves prices, in an application of Quarkus. */
public class Prices {

    @Produces
    @Singleton
    ZMTPSocket prices() {
        ZMTPSocket socket = ZMTPSocket.of(ROUTER);
        socket.serve(request -> request.reply(ZMTPMessage.fromUTF8("42 for " + request.message().frameUTF8(0))));
        return socket;
    }

    void close(@Disposes ZMTPSocket socket) {
        socket.close();
    }

    @Produces
    @Singleton
    @Startup
    ZMTPEndpoint pricesEndpoint(
            ZMTPSocket prices,
            @ConfigProperty(name = "prices.endpoint", defaultValue = "tcp://*:5555") String endpoint)
            throws InterruptedException {
        return prices.bind(endpoint).sync();
    }

    @Produces
    @Singleton
    ZMTPMetrics pricesMeters(ZMTPSocket prices) {
        return ZMTPMetrics.of(prices, "prices");
    }

    void close(@Disposes ZMTPMetrics meters) {
        meters.close();
    }
}
