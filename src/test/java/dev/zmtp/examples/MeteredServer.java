package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.metrics.ZMTPMetrics;
import dev.zmtp.socket.ZMTPSocket;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;

/** A server and a client whose meters Prometheus can read. */
public final class MeteredServer {

    private MeteredServer() {}

    /** Makes requests, and prints the text that an HTTP server would return to Prometheus. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("Nothing to run beside it. Prometheus would read:");
        System.out.print(scrape());
    }

    static String scrape() throws InterruptedException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (ZMTPSocket server = ZMTPSocket.of(ROUTER);
                ZMTPSocket orders = ZMTPSocket.of(DEALER)) {
            server.serve(request -> request.reply(request.message()));
            watch(server, orders, registry);
            orders.connect(server.bind("tcp://127.0.0.1:0").sync().text());
            for (int i = 0; i < 3; i++) {
                orders.request(ZMTPMessage.fromUTF8("order"), Duration.ofSeconds(5))
                        .release();
            }
            return registry.scrape();
        } finally {
            registry.close();
        }
    }

    static void watch(ZMTPSocket server, ZMTPSocket orders, MeterRegistry registry) {
        ZMTPMetrics.of(server, "server").bindTo(registry);
        ZMTPMetrics.of(orders, "orders").bindTo(registry);
    }
}
