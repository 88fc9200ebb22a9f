package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.time.Duration;

/** Makes connections all the time, each with a socket of its own: for one request, after whose answer it is closed. */
final class SocketConnects {

    private final Program program;
    private final ZMTPSocketConfig config;
    private final String endpoint;
    private final Counter messages;
    private final ZMTPMessage request;

    SocketConnects(Program program, ZMTPSocketConfig config, String endpoint, Counter messages, ZMTPMessage request) {
        this.program = program;
        this.config = config;
        this.endpoint = endpoint;
        this.messages = messages;
        this.request = request;
    }

    /** Has as many connections at a time as there should be requests; to be called by the event loop of the sockets. */
    void start() {
        for (int i = 0; i < program.arguments().outstanding(); i++) {
            connect();
        }
    }

    private void connect() {
        ZMTPSocket socket = ZMTPSocket.of(config);
        socket.connect(endpoint);
        socket.requestAsync(request.retain(), SocketTraffic.PATIENCE).whenComplete((answer, failure) -> {
            if (failure != null) {
                program.fail(failure);
                return;
            }
            answer.release();
            messages.add(1);
            socket.closeAsync(Duration.ZERO).thenRun(this::connect);
        });
    }
}
