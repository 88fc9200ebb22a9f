package example;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts the service, asks it, and prints what a client and the meters say. */
public final class PriceCheck {

    private PriceCheck() {}

    public static void main(String... args) throws InterruptedException {
        String endpoint = "inproc://prices";
        try (ConfigurableApplicationContext application =
                        SpringApplication.run(PriceService.class, "--prices.endpoint=" + endpoint);
                ZMTPSocket client = ZMTPSocket.of(REQ)) {
            client.connect(endpoint);
            String price = Reactive.ask(client, "tea").block(Duration.ofSeconds(10));
            long served = application
                    .getBean(MeterRegistry.class)
                    .get("zmtp.served")
                    .tags("socket", "prices", "result", "replied")
                    .timer()
                    .count();
            System.out.println(price + ", served: " + served + ", texts: " + texts());
        }
    }

    private static List<String> texts() throws InterruptedException {
        try (ZMTPSocket sink = ZMTPSocket.of(PULL);
                ZMTPSocket source = ZMTPSocket.of(PUSH)) {
            source.connect(sink.bind("inproc://texts").sync().text());
            source.send(ZMTPMessage.fromUTF8("one"));
            source.send(ZMTPMessage.fromUTF8("two"));
            return Reactive.texts(sink).take(2).collectList().block(Duration.ofSeconds(10));
        }
    }
}
