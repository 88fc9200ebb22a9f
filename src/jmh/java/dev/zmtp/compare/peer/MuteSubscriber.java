package dev.zmtp.compare.peer;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A subscriber that wants everything and reads no message, as one whose process is stopped. It belongs to no library. */
final class MuteSubscriber {

    private static final String GREETING = "ff00000000000000017f" + "0300" + "4e554c4c" + "00".repeat(48);
    private static final String READY = "0419" + "055245414459" + "0b536f636b65742d54797065" + "00000003535542";
    private static final String SUBSCRIPTION = "000101";

    /** What the kernel takes for it is soon full. */
    private static final int RECEIVE_BUFFER = 4096;

    /** The collector would close a socket that nothing refers to. */
    private static final Queue<Socket> OPEN = new ConcurrentLinkedQueue<>();

    private MuteSubscriber() {}

    /** Opens as many as there should be; they stay as long as the program. */
    static void openAll(Arguments arguments) throws IOException {
        for (int i = 0; i < arguments.mute(); i++) {
            open(arguments.port());
        }
    }

    @SuppressWarnings("resource") // it ends with the program
    private static void open(int port) throws IOException {
        Socket socket = new Socket();
        OPEN.add(socket);
        socket.setReceiveBufferSize(RECEIVE_BUFFER);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        OutputStream out = socket.getOutputStream();
        out.write(HexFormat.of().parseHex(GREETING + READY));
        awaitReady(new DataInputStream(socket.getInputStream())); // libzmq takes no message before it has sent it
        out.write(HexFormat.of().parseHex(SUBSCRIPTION));
    }

    private static void awaitReady(DataInputStream in) throws IOException {
        in.readFully(new byte[GREETING.length() / 2]);
        in.readByte(); // flags
        in.readFully(new byte[in.readUnsignedByte()]);
    }
}
