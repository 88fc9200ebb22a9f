package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A REQ and a DEALER that ask, and peers that answer rightly, wrongly, late, twice, in each other's place or not at
 * all, and that come and go. A small model says what became of each request after each step, and so must its future.
 */
public final class RequestFuzz {

    private static final int SLOTS = 3;
    private static final int MOST = 6;
    private static final String PENDING = "pending";

    private final Input input;
    private final SteppedLoop loop = new SteppedLoop();
    private final Asker req = new Asker(ZMTPSocketType.REQ);
    private final Asker dealer = new Asker(ZMTPSocketType.DEALER);
    private final @Nullable Slot[] slots = new Slot[SLOTS];
    private final List<Request> requests = new ArrayList<>();
    private final List<Call> receives = new ArrayList<>();
    private int answers;

    /** The request that the REQ has sent and whose answer was not received; and the receive that waits for it. */
    private @Nullable Request strict;

    private @Nullable Call strictReceive;

    private RequestFuzz(Input input) {
        this.input = input;
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> new RequestFuzz(new Input(bytes)).run());
    }

    private void run() {
        dealer.socket.onMessage((peer, message) -> message.release());
        for (int i = 0; i < SLOTS; i++) {
            req.socket.connect("inproc://slot" + i);
            dealer.socket.connect("inproc://slot" + i);
        }
        loop.run();
        while (!input.isEmpty()) {
            act();
            loop.run();
            check();
        }
        end();
    }

    private void act() {
        switch (input.choice(14)) {
            case 0, 1 -> ask(dealer);
            case 2 -> ask(req);
            case 3 -> sendStrictly();
            case 4 -> receiveStrictly();
            case 5 -> cancelOne();
            case 6, 7 -> comeOrGo(input.choice(SLOTS));
            case 8, 9 -> answer(input.choice(SLOTS), true);
            case 10 -> answer(input.choice(SLOTS), false);
            case 11 -> receiveAtRep(input.choice(SLOTS));
            case 12 -> answerAtRep(input.choice(SLOTS));
            default -> pass(input.number(1, 15, 150, 1_500));
        }
    }

    // Asking

    private void ask(Asker asker) {
        long timeout = input.number(10, 100, 1_000);
        Request request = new Request(asker, loop.now() + TimeUnit.MILLISECONDS.toNanos(timeout));
        if (asker.outstanding() >= MOST) {
            request.outcome = "FULL";
        }
        requests.add(request);
        request.future = asker.socket.requestAsync(message("q" + (requests.size() - 1)), Duration.ofMillis(timeout));
    }

    private void sendStrictly() {
        boolean allowed = strict == null;
        Request request = new Request(req, Long.MAX_VALUE);
        if (allowed) {
            if (req.outstanding() >= MOST) {
                request.outcome = "FULL";
            }
            strict = request;
        } else {
            request.outcome = "ILLEGAL_STATE";
        }
        requests.add(request);
        CompletableFuture<Void> sent = req.socket.sendAsync(message("q" + (requests.size() - 1)));
        loop.run();
        if (!request.outcome.equals(PENDING)) {
            FuzzFailure.unlessEqual(outcome(sent), request.outcome, "a send");
        }
    }

    private void receiveStrictly() {
        Call call = new Call(req.socket.receiveAsync());
        if (strict == null || strictReceive != null) {
            call.outcome = "ILLEGAL_STATE";
        } else {
            strictReceive = call;
            strictEnded();
        }
        receives.add(call);
    }

    /** If the answer is there and waited for, the receive has it, and the next request may be sent. */
    private void strictEnded() {
        if (strict != null && strictReceive != null && !strict.outcome.equals(PENDING)) {
            strictReceive.outcome = strict.outcome;
            strictReceive = null;
            strict = null;
        }
    }

    private void cancelOne() {
        if (input.choice(3) == 0 && strictReceive != null) {
            strictReceive.future.cancel(false);
            strictReceive.outcome = "cancelled";
            strictReceive = null;
        } else if (!requests.isEmpty()) {
            Request request = requests.get(input.oneByte() % requests.size());
            if (request.future != null && !request.future.isDone() && request.future.cancel(false)) {
                FuzzFailure.unlessEqual(request.outcome, PENDING, "before the cancel");
                request.outcome = "cancelled";
            }
        }
    }

    private void pass(long millis) {
        loop.pass(millis);
        for (Request request : requests) {
            if (request.outcome.equals(PENDING) && request.deadline <= loop.now()) {
                request.outcome = "TIMEOUT";
            }
        }
    }

    // Peers

    private void comeOrGo(int i) {
        Slot slot = slots[i];
        if (slot == null) {
            slots[i] = new Slot(i, input.of(ZMTPSocketType.ROUTER, ZMTPSocketType.REP));
            return;
        }
        slots[i] = null;
        slot.end();
    }

    /** A ROUTER answers, now or once more, from its own place or from another one's, or with what is no answer. */
    private void answer(int i, boolean rightly) {
        Slot from = slots[i];
        if (from == null || from.envelopes.isEmpty()) {
            return;
        }
        Envelope envelope = from.envelopes.get(input.oneByte() % from.envelopes.size());
        Slot through = rightly ? from : slots[input.choice(SLOTS)];
        if (through == null || through.type != ZMTPSocketType.ROUTER) {
            return;
        }
        String data = "a" + answers++;
        List<byte[]> frames = new ArrayList<>(envelope.frames);
        frames.add(bytes(data));
        if (!rightly) {
            spoil(frames);
        }
        through.expect(envelope.asker, frames);
        frames.add(0, bytes(envelope.asker.name()));
        through.socket.sendAsync(message(frames));
    }

    private void spoil(List<byte[]> frames) {
        switch (input.choice(6)) {
            case 0 -> frames.remove(0);
            case 1 -> frames.remove(frames.size() - 1);
            case 2 -> frames.add(0, new byte[0]);
            case 3 -> frames.subList(1, frames.size()).clear();
            case 4 -> frames.set(0, input.bytes(8));
            default -> {}
        }
    }

    private void receiveAtRep(int i) {
        Slot slot = slots[i];
        if (slot == null || slot.type != ZMTPSocketType.REP) {
            return;
        }
        if (slot.receive != null && !slot.receive.isDone() && input.choice(2) == 0) {
            slot.receive.cancel(false);
            slot.receive = null;
            return;
        }
        CompletableFuture<ZMTPMessage> received = slot.socket.receiveAsync();
        if (slot.receive != null || slot.answering != null) {
            FuzzFailure.unlessEqual(outcome(received), "ILLEGAL_STATE", "a receive of the REP out of turn");
            return;
        }
        slot.receive = received;
    }

    private void answerAtRep(int i) {
        Slot slot = slots[i];
        if (slot == null || slot.type != ZMTPSocketType.REP) {
            return;
        }
        String data = "a" + answers++;
        Request answered = slot.answering;
        CompletableFuture<Void> sent = slot.socket.sendAsync(message(data));
        loop.run();
        if (answered == null) {
            FuzzFailure.unlessEqual(outcome(sent), "ILLEGAL_STATE", "a send of the REP out of turn");
            return;
        }
        slot.answering = null;
        if (answered.outcome.equals(PENDING)) {
            answered.outcome = data;
        }
    }

    // The checks

    private void check() {
        for (Slot slot : slots) {
            if (slot != null) {
                slot.takeRequest();
            }
        }
        strictEnded();
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            if (request.future != null) {
                FuzzFailure.unlessEqual(outcome(request.future), request.outcome, "request " + i);
            }
        }
        for (Call call : receives) {
            FuzzFailure.unlessEqual(outcome(call.future), call.outcome, "a receive");
        }
    }

    private void end() {
        // With all that waited timed out, there is room for as many as ever.
        for (int i = 0; i < SLOTS; i++) {
            if (slots[i] != null) {
                comeOrGo(i);
                loop.run();
                check();
            }
        }
        pass(2_000);
        check();
        for (Asker asker : List.of(req, dealer)) {
            int left = MOST - asker.outstanding();
            for (int i = 0; i <= left; i++) {
                ask(asker);
            }
        }
        loop.run();
        check();
        for (Asker asker : List.of(req, dealer)) {
            loop.close(asker.socket);
            for (Request request : requests) {
                if (request.asker == asker && request.outcome.equals(PENDING)) {
                    request.outcome = "CLOSED";
                }
            }
            pass(0); // closing takes some time
        }
        strictEnded();
        check();
        for (Request request : requests) {
            release(request.future);
        }
        receives.forEach(call -> release(call.future));
        loop.end();
    }

    private static void release(@Nullable CompletableFuture<ZMTPMessage> future) {
        if (future != null && !future.isCompletedExceptionally() && future.isDone()) {
            future.join().release();
        }
    }

    /** What has become of it, in a word: the data, or the reason why there is none. */
    private static String outcome(CompletableFuture<?> future) {
        if (!future.isDone()) {
            return PENDING;
        }
        if (future.isCancelled()) {
            return "cancelled";
        }
        Object[] result = new Object[1];
        future.whenComplete((value, failure) -> result[0] = failure != null ? failure : value);
        if (result[0] instanceof ZMTPMessage message) {
            return text(message.frame(message.size() - 1));
        }
        if (result[0] instanceof ZMTPSocketException failure) {
            return failure.reason().toString();
        }
        return String.valueOf(result[0]);
    }

    // Messages

    private ZMTPMessage message(String text) {
        List<byte[]> frames = new ArrayList<>();
        frames.add(bytes(text));
        return message(frames);
    }

    private ZMTPMessage message(List<byte[]> frames) {
        List<ByteBuf> buffers = new ArrayList<>();
        frames.forEach(frame -> buffers.add(loop.ledger().buffer(frame.length).writeBytes(frame)));
        return ZMTPMessage.from(buffers);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(ByteBuf frame) {
        return frame.toString(StandardCharsets.UTF_8);
    }

    /** A socket that asks. */
    private final class Asker {
        final ZMTPSocket socket;
        final ZMTPSocketType type;

        Asker(ZMTPSocketType type) {
            this.type = type;
            this.socket = loop.open(type, type.name(), MOST, message -> {});
        }

        String name() {
            return type.name();
        }

        int outstanding() {
            return (int) requests.stream()
                    .filter(r -> r.asker == this && r.outcome.equals(PENDING))
                    .count();
        }
    }

    private static final class Call {
        final CompletableFuture<ZMTPMessage> future;
        String outcome = PENDING;

        Call(CompletableFuture<ZMTPMessage> future) {
            this.future = future;
        }
    }

    /** A request in the model. */
    private static final class Request {
        final Asker asker;
        final long deadline;
        String outcome = PENDING;

        /** Where it was seen to arrive. */
        @Nullable
        Slot slot;

        byte @Nullable [] id;

        @Nullable
        CompletableFuture<ZMTPMessage> future;

        Request(Asker asker, long deadline) {
            this.asker = asker;
            this.deadline = deadline;
        }
    }

    /** What a ROUTER has got: who has asked, and the frames up to the empty one. */
    private record Envelope(Asker asker, List<byte[]> frames) {}

    /** A peer that is there. */
    private final class Slot {
        final ZMTPSocketType type;
        final ZMTPSocket socket;
        final List<Envelope> envelopes = new ArrayList<>();

        @Nullable
        CompletableFuture<ZMTPMessage> receive;

        @Nullable
        Request answering;

        Slot(int i, ZMTPSocketType type) {
            this.type = type;
            this.socket = loop.open(type, "", 100, this::arrived);
            if (type == ZMTPSocketType.ROUTER) {
                socket.onMessage((peer, message) -> asked(peer.routingIdUTF8(), message));
            }
            socket.bind("inproc://slot" + i);
        }

        private Request request(ZMTPMessage message) {
            return requests.get(
                    Integer.parseInt(text(message.frame(message.size() - 1)).substring(1)));
        }

        /** It is at this end of the connection, if not with the application. */
        private void arrived(ZMTPMessage message) {
            request(message).slot = this;
        }

        private void asked(String asker, ZMTPMessage message) {
            int last = message.size() - 1;
            Request request = request(message);
            List<byte[]> frames = new ArrayList<>();
            for (int i = 0; i < last; i++) {
                frames.add(ByteBufUtil.getBytes(message.frame(i)));
            }
            FuzzFailure.unlessEqual(asker, request.asker.name(), "the name of the asker");
            FuzzFailure.unlessEqual(frames.size(), 2, "frames of the envelope");
            FuzzFailure.unlessEqual(frames.get(frames.size() - 1).length, 0, "length of the last one");
            request.id = frames.get(0);
            envelopes.add(new Envelope(request.asker, frames));
            message.release();
        }

        /** The REP's receive has a request, perhaps. */
        void takeRequest() {
            CompletableFuture<ZMTPMessage> received = receive;
            if (received != null && received.isDone()) {
                receive = null;
                ZMTPMessage message = received.join();
                answering = request(message);
                message.release();
            }
        }

        /** What the model says of these frames when they come to the asker from this peer. */
        void expect(Asker to, List<byte[]> frames) {
            String data = new String(frames.get(frames.size() - 1), StandardCharsets.UTF_8);
            if (frames.size() >= 3 && frames.get(1).length == 0 && isId(to, frames.get(0))) {
                for (Request request : requests) {
                    if (request.asker == to && Arrays.equals(request.id, frames.get(0))) {
                        answered(request, data);
                    }
                }
            } else if (to == req && (frames.size() == 1 || frames.get(0).length > 0)) { // without an id it is just late
                malformed();
            }
        }

        /** Whether an id is the asker's: the first byte of them is the same, whether or not it has given this one. */
        private boolean isId(Asker to, byte[] id) {
            return id.length == Integer.BYTES
                    && requests.stream().anyMatch(r -> r.asker == to && r.id != null && r.id[0] == id[0]);
        }

        private void answered(Request request, String data) {
            if (request.slot == this && request.outcome.equals(PENDING)) {
                request.outcome = data;
            }
        }

        private void malformed() {
            List<Request> its = requests.stream()
                    .filter(r -> r.asker == req && r.slot == this && r.outcome.equals(PENDING))
                    .toList();
            if (its.size() == 1) {
                its.get(0).outcome = "MALFORMED";
            }
        }

        void end() {
            loop.close(socket);
            for (Request request : requests) {
                if (request.outcome.equals(PENDING) && request.slot == this) {
                    request.outcome = "PEER_DOWN";
                }
            }
            pass(0);
        }
    }
}
