package example;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.util.Version;
import java.time.Duration;

/**
 * Starts the server of the README, sends it a request, and prints the answer, and what it is told about WebSocket
 * without Netty's library of HTTP.
 */
public final class AskingClient {

    private AskingClient() {}

    public static void main(String... args) throws InterruptedException {
        try (ZMTPSocket server = FirstServer.open();
                ZMTPSocket client = ZMTPSocket.of(ZMTPSocketType.REQ)) {
            client.connect(server.bind("tcp://127.0.0.1:0").sync().text());
            ZMTPMessage answer = client.request(ZMTPMessage.fromUTF8("Ada"), Duration.ofSeconds(10));
            System.out.println(answer.frameUTF8(0) + " from " + AskingClient.class.getModule() + ", Java "
                    + Runtime.version().feature() + ", Netty "
                    + Version.identify().get("netty-transport").artifactVersion());
            answer.release();
            System.out.println(webSocket(client));
        }
    }

    private static String webSocket(ZMTPSocket socket) {
        try {
            return socket.connect("ws://127.0.0.1:1").toString();
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }
}
