package dev.zmtp.test;

import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.internal.capture.RecordedConversation;
import dev.zmtp.internal.transport.Endpoint;
import io.netty.channel.ChannelFuture;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The peer of a recorded connection, which compares what the socket sends with the recording, in order. */
final class ReplayedPeer implements PeerInput {

    private final ZMTPTestLoop loop;
    private final int number;
    private final TestConnection connection;
    private final RecordedConversation conversation;
    private long sent;

    ReplayedPeer(ZMTPTestLoop loop, ZMTPRecording.Entry up, Consumer<ZMTPReplay.Difference> differences) {
        this.loop = loop;
        this.number = up.connection();
        this.conversation = new RecordedConversation((message, expected, actual) ->
                differences.accept(new ZMTPReplay.Difference(number, message, expected, actual)));
        ByteBuffer routingId = up.routingId();
        byte[] id = new byte[routingId.remaining()];
        routingId.get(id);
        this.connection = new TestConnection(RecordedConversation.peerType(up), id, this);
    }

    void connect(String text) {
        VirtualLoop virtual = loop.virtual();
        Endpoint endpoint = Endpoint.parse(Map.of(virtual.bytes().scheme(), virtual.bytes()), text, false);
        ChannelFuture connected = ZMTPTestPeer.connect(virtual, endpoint, connection);
        loop.run();
        // The recorded socket can have ended the connection at once, too. The recording then goes on with that end.
        if (!connected.isSuccess() || (!connection.isActive() && !connection.wasAccepted())) {
            throw new AssertionError(
                    "connection " + number + ": refused by the socket (expected: accepted, as recorded)",
                    connected.cause());
        }
    }

    /** Sends what the recorded peer has sent. */
    void send(ZMTPRecording.Entry entry) {
        if (!connection.isActive()) {
            throw new AssertionError("connection " + number + ": ended by the socket before " + loop.time()
                    + " (expected: open, as recorded)");
        }
        if (entry.kind() == ZMTPRecording.Kind.RECEIVED) {
            connection.sendMessage(entry.frames());
        } else {
            connection.sendSubscription(
                    RecordedConversation.command(entry), entry.frames().get(0));
        }
        loop.run();
    }

    /** Compares a message that the recorded socket has sent with that of this socket, now or when it arrives. */
    void expect(ZMTPRecording.Entry entry) {
        conversation.expect(entry);
        connection.readIfWanted();
        if (conversation.isWaiting()) {
            loop.run(); // it can be on the way
        }
        if (conversation.isFarAhead()) { // while the socket has nothing more to do at this time
            conversation.checkNothingMissing();
        }
    }

    @Override
    public void message(List<byte[]> frames) {
        sent++;
        conversation.message(frames);
    }

    @Override
    public void subscription(String name, byte[] topic) {
        conversation.subscription(name, topic);
    }

    @Override
    public boolean hasRoom() {
        return conversation.hasRoom();
    }

    long sent() {
        return sent;
    }

    RecordedConversation conversation() {
        return conversation;
    }

    void close() {
        connection.close();
        loop.run();
    }
}
