package example;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.metrics.ZMTPMetrics;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Serves prices, in an application of Spring Boot. */
@SpringBootApplication
public class PriceService {

    @Bean
    public ZMTPSocket prices() {
        ZMTPSocket socket = ZMTPSocket.of(ROUTER);
        socket.serve(request -> request.reply(ZMTPMessage.fromUTF8("42 for " + request.message().frameUTF8(0))));
        return socket;
    }

    @Bean
    public ZMTPEndpoint pricesEndpoint(ZMTPSocket prices, @Value("${prices.endpoint:tcp://*:5555}") String endpoint)
            throws InterruptedException {
        return prices.bind(endpoint).sync(); // a port that is taken ends the start of the application
    }

    @Bean
    public ZMTPMetrics pricesMeters(ZMTPSocket prices) {
        return ZMTPMetrics.of(prices, "prices");
    }
}
