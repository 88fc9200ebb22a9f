package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.Channel;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Messages and those who receive them meet in the inbox. The last result is what is left there. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class InboxStress {

    private InboxStress() {}

    /** A message arrives while a thread begins to wait for one. */
    @JCStressTest
    @Outcome(id = "1, ", expect = Expect.ACCEPTABLE, desc = "It has the message.")
    @Outcome(id = "waits, 1", expect = Expect.FORBIDDEN, desc = "It waits, and the message lies there.")
    @State
    public static class Arrival extends StressedReceiver {

        private CompletableFuture<ZMTPMessage> received = new CompletableFuture<>();

        public Arrival() {
            arrives("1");
        }

        @Actor
        public void read() {
            received = receive();
        }

        @Actor
        public void deliver() {
            loop.runTasks();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = left();
            result.r1 = text(received);
        }
    }

    /** Two messages wait, and two threads receive. */
    @JCStressTest
    @Outcome(
            id = {"1, 2, ", "2, 1, "},
            expect = Expect.ACCEPTABLE,
            desc = "Each has one.")
    @State
    public static class TwoReaders extends StressedReceiver {

        private CompletableFuture<ZMTPMessage> one = new CompletableFuture<>();
        private CompletableFuture<ZMTPMessage> other = new CompletableFuture<>();

        public TwoReaders() {
            arrives("1");
            arrives("2");
            loop.runTasks();
        }

        @Actor
        public void one() {
            one = receive();
        }

        @Actor
        public void other() {
            other = receive();
        }

        @Arbiter
        public void end(LLL_Result result) {
            result.r3 = left();
            result.r1 = text(one);
            result.r2 = text(other);
        }
    }

    /** A message arrives while its receiver gives up. */
    @JCStressTest
    @Outcome(id = "1, ", expect = Expect.ACCEPTABLE, desc = "It has come before.")
    @Outcome(id = "cancelled, 1", expect = Expect.ACCEPTABLE, desc = "It waits for the next receiver.")
    @Outcome(id = "cancelled, ", expect = Expect.FORBIDDEN, desc = "It is lost.")
    @State
    public static class Cancel extends StressedReceiver {

        private final Received received = receive();

        public Cancel() {
            arrives("1");
        }

        @Actor
        public void cancel() {
            received.cancel(false);
        }

        @Actor
        public void deliver() {
            loop.runTasks();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = left();
            result.r1 = text(received);
        }
    }

    /** A receiver that has just taken a message gives it up, and another one comes. */
    @JCStressTest
    @Outcome(id = "1, waits, ", expect = Expect.ACCEPTABLE, desc = "The first one has it.")
    @Outcome(id = "cancelled, 1, ", expect = Expect.ACCEPTABLE, desc = "The other one has it.")
    @Outcome(id = "cancelled, waits, 1", expect = Expect.FORBIDDEN, desc = "The other one waits, and it lies there.")
    @State
    public static class PutBack extends StressedReceiver {

        private final Received first = new Received(core.context(), inbox);
        private CompletableFuture<ZMTPMessage> other = new CompletableFuture<>();

        public PutBack() {
            arrives("1");
            loop.runTasks();
        }

        @Actor
        public void read() {
            inbox.take(first);
        }

        @Actor
        public void cancel() {
            first.cancel(false);
            other = receive();
        }

        @Arbiter
        public void end(LLL_Result result) {
            result.r3 = left();
            result.r1 = text(first);
            result.r2 = text(other);
        }
    }

    /** A receiver that has just taken a message gives it up, and a handler is registered for the next ones. */
    @JCStressTest
    @Outcome(id = "1, null, ", expect = Expect.ACCEPTABLE, desc = "The receiver has it.")
    @Outcome(id = "cancelled, 1, ", expect = Expect.ACCEPTABLE, desc = "The handler has it.")
    @Outcome(id = "cancelled, null, 1", expect = Expect.FORBIDDEN, desc = "The handler does not get it.")
    @State
    public static class PutBackForHandler extends StressedReceiver {

        private final Received first = new Received(core.context(), inbox);
        private @Nullable String handled;

        public PutBackForHandler() {
            arrives("1");
            loop.runTasks();
        }

        @Actor
        public void read() {
            inbox.take(first);
        }

        @Actor
        public void cancel() {
            first.cancel(false);
            inbox.register(new HandlerSink((from, message) -> handled = text(message)));
            loop.runTasks();
        }

        @Arbiter
        public void end(LLL_Result result) {
            result.r3 = left();
            result.r1 = text(first);
            result.r2 = handled;
        }
    }

    /** One message makes the queue full, and a thread makes room. The results are whether it is full, and is read. */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "It is full, and its peer is not read from.")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "It has room, and its peer is read from.")
    @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "The peer waits for ever.")
    @Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "The queue may grow beyond its limit.")
    @State
    public static class Reading extends StressedReceiver {

        private final Channel channel = connect(peer);

        public Reading() {
            arrives("1");
            loop.runTasks();
            arrives("2");
            arrives("3");
        }

        @Actor
        public void read() {
            receive();
            receive();
        }

        @Actor
        public void deliver() {
            loop.runTasks();
        }

        @Arbiter
        public void end(ZZ_Result result) {
            left();
            result.r1 = peer.inbound().full;
            result.r2 = channel.config().isAutoRead();
        }
    }

    /** A message arrives while a thread falls asleep. */
    @JCStressTest
    @Outcome(id = "1, ", expect = Expect.ACCEPTABLE, desc = "It has the message.")
    @Outcome(id = "none.*", expect = Expect.FORBIDDEN, desc = "It sleeps, and the message lies there.")
    @State
    public static class Asleep extends StressedReceiver {

        private volatile String received = "";

        public Asleep() {
            arrivesByRead("1");
        }

        @Actor
        public void read() {
            received = await(LONG);
        }

        @Actor
        public void deliver() {
            while (received.isEmpty()) {
                loop.runTasks();
            }
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = left();
            result.r1 = received;
        }
    }

    /** The inbox closes while a thread falls asleep. */
    @JCStressTest
    @Outcome(id = "CLOSED", expect = Expect.ACCEPTABLE, desc = "The close has woken it.")
    @Outcome(id = "none", expect = Expect.FORBIDDEN, desc = "It sleeps though the inbox is closed.")
    @State
    public static class AsleepAtTheClose extends StressedReceiver {

        private String received = "";

        @Actor
        public void read() {
            received = await(LONG);
        }

        @Actor
        public void close() {
            inbox.close();
        }

        @Arbiter
        public void end(L_Result result) {
            result.r1 = received;
        }
    }
}
