package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import dev.zmtp.internal.transport.InprocRing;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Every queue of the library has a bound, which stands here. Whoever adds a queue says what bounds it. */
class QueuesTest {

    private static final Map<String, String> BOUNDS = Map.ofEntries(
            Map.entry("PackedFrames.buffers", "the frames of one message, which the decoder limits"),
            Map.entry("internal.capture.CaptureFile.kept", "the files of the capture's builder"),
            Map.entry("internal.capture.CaptureHandler.held", "the bytes of the capture's queue"),
            Map.entry("internal.capture.CaptureWriter.queue", "queueBytes of the capture's builder"),
            Map.entry("internal.capture.RecordingReader.entries", "the messages of one packet"),
            Map.entry("internal.connection.HeldWrites.writes", "maxHeldWrites of ZMTPConfig, in bytes"),
            Map.entry("internal.connection.ReadQueue.buffers", "64 KiB, then the channel is not read from"),
            Map.entry("internal.connection.ReadLoop.inputEnds", "one for each way to close an input"),
            Map.entry("internal.proxy.Forwarding.ring", "1,024 messages and 4 MiB"),
            Map.entry("internal.socket.context.Completions.waiting", "the limits of sends, receives and requests"),
            Map.entry(
                    "internal.socket.context.Completions.delayed", "calls of one millisecond on stacks that are deep"),
            Map.entry("internal.socket.context.SocketEvents$Subscriber.waiting", "1,024 events"),
            Map.entry("internal.socket.context.GroupEnd.made", "the threads of one group"),
            Map.entry("internal.socket.context.MessageAges.due", "the queues of the socket, so maxPeers"),
            Map.entry("internal.socket.endpoint.Addresses.left", "the addresses of one name"),
            Map.entry(
                    "internal.socket.peer.Inbound.messages",
                    "receiveQueueLimit, then the peer is not read from; or one"),
            Map.entry("internal.socket.peer.Newcomer.deferred", "what one read brings, then it is not read from"),
            Map.entry("internal.socket.peer.QueueShares.outbounds", "one for each peer"),
            Map.entry("internal.socket.peer.SendQueue.waiting", "sendQueueLimit, and overflowPolicy"),
            Map.entry("internal.socket.publish.Subscribers.notices", "65,536, then those are told at once"),
            Map.entry("internal.socket.receive.Line.inTurn", "one for each peer, so maxPeers"),
            Map.entry("internal.socket.send.Intake.queue", "the credit of the socket, and what closes"),
            Map.entry("internal.socket.send.BlockedSends.messages", "the credit of the socket"),
            Map.entry("internal.socket.send.PlaceLines$Places.threads", "the threads that wait"),
            Map.entry("internal.socket.send.WaitingSends.waiting", "maxWaitingSends, and the threads that wait"),
            Map.entry("internal.transport.InprocChannel.inbound", "the limits of both sockets"),
            Map.entry("internal.transport.Lookup.waiting", "one for each endpoint that connects or binds"),
            Map.entry("internal.websocket.LateWrites.promises", "1,024, then the channel is closed"),
            Map.entry("internal.websocket.ZwsTranslator.waiting", "what a read's callbacks make the transport read"),
            Map.entry("security.Libsodium.idle", "as many as threads have had at the same time"),
            Map.entry("shm.BlockingMeetings.met", "the clients of one select"),
            Map.entry("test.ReceivedFrames.messages", "1,000, then the peer of the test does not read"),
            Map.entry(
                    "internal.capture.RecordedConversation.actual",
                    "10,000, then the peer of the replay does not read"),
            Map.entry("internal.capture.RecordedConversation.expected", "10,000, then the first counts as missing"),
            Map.entry("zap.ZMTPZapClient.connections", "one that works, and those that end"));

    @Test
    void everyQueueHasABound() {
        // In no field, as it takes 36 MB, which each collection would look at until the JVM ends.
        JavaClasses main = new ClassFileImporter()
                .withImportOption(new DoNotIncludeTests())
                .importPackagesOf(ZMTPMessage.class);
        List<String> queues = main.stream()
                .filter(type -> type.getPackageName().startsWith("dev.zmtp"))
                .flatMap(type -> type.getFields().stream())
                .filter(QueuesTest::isQueue)
                .map(field -> field.getFullName().substring("dev.zmtp.".length()))
                .toList();

        assertThat(queues).containsExactlyInAnyOrderElementsOf(BOUNDS.keySet());
    }

    private static boolean isQueue(JavaField field) {
        return field.getRawType().isAssignableTo(Queue.class)
                || field.getRawType().isEquivalentTo(InprocRing.class);
    }
}
