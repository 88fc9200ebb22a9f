package dev.zmtp.shm;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A client that does not keep to the rules: it has the socket, the file and its rings. */
record Intruder(SocketChannel socket, Path path, SharedFile file) {

    static Intruder at(Path server) throws IOException {
        SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(server));
        ByteBuffer invitation = ByteBuffer.allocate(11);
        read(socket, invitation);
        ByteBuffer name = ByteBuffer.allocate(invitation.getShort(9));
        read(socket, name);
        Path path = Path.of(StandardCharsets.UTF_8.decode(name).toString());
        return new Intruder(socket, path, SharedFile.open(path, 2, invitation.getInt(5)));
    }

    private static void read(SocketChannel socket, ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            socket.read(target);
        }
        target.flip();
    }

    /** Writes these bytes to the socket, all at once. */
    void say(int... values) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(values.length);
        for (int value : values) {
            bytes.put((byte) value);
        }
        socket.write(bytes.flip());
    }

    /** Says what an honest client does. */
    void accept() throws IOException {
        socket.write(ByteBuffer.wrap(Invitation.answer(file)));
    }

    /** Puts something in the place of the file that cannot be removed. */
    void replace() throws IOException {
        Files.delete(path);
        Files.createFile(Files.createDirectory(path).resolve("kept"));
    }

    /** From the client to the server. */
    Ring ring() {
        return file.ring(1);
    }

    /** The file, to be cut short. It must have its name yet. */
    FileChannel open() throws IOException {
        return FileChannel.open(path, StandardOpenOption.WRITE);
    }

    /** Waits until the other side has closed the socket. */
    void awaitEnd() throws IOException {
        ByteBuffer rings = ByteBuffer.allocate(64);
        while (socket.read(rings.clear()) >= 0) {
            Thread.onSpinWait();
        }
    }

    void leave() throws IOException {
        socket.close();
        file.close();
    }
}
