package dev.zmtp.interop;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import zmq.Msg;

/**
 * The draft types of JeroMQ whose messages have a field beside their one frame: the routing id of a peer, or a group.
 * Here it is the first frame, as with our sockets.
 */
final class JeroMqDrafts {

    private JeroMqDrafts() {}

    /** Whether messages of this socket have such a field. */
    static boolean hasField(ZMQ.Socket socket) {
        return namesPeers(socket) || hasGroups(socket);
    }

    private static boolean namesPeers(ZMQ.Socket socket) {
        SocketType type = socket.getSocketType();
        return type == SocketType.SERVER || type == SocketType.PEER;
    }

    private static boolean hasGroups(ZMQ.Socket socket) {
        SocketType type = socket.getSocketType();
        return type == SocketType.RADIO || type == SocketType.DISH;
    }

    /** Returns whether the message was taken. */
    static boolean send(ZMQ.Socket socket, List<byte[]> frames) {
        Msg message = new Msg(frames.get(1));
        if (namesPeers(socket)) {
            message.setRoutingId(ByteBuffer.wrap(frames.get(0)).getInt());
        } else {
            message.setGroup(new String(frames.get(0), StandardCharsets.UTF_8));
        }
        return socket.sendMsg(message);
    }

    /** The next message, or null if there is none in time. */
    static @Nullable List<byte[]> receive(ZMQ.Socket socket) {
        Msg message = socket.recvMsg();
        if (message == null) {
            return null;
        }
        byte[] field = namesPeers(socket)
                ? ByteBuffer.allocate(Integer.BYTES)
                        .putInt(message.getRoutingId())
                        .array()
                : message.getGroup().getBytes(StandardCharsets.UTF_8);
        return List.of(field, message.data());
    }
}
