package dev.zmtp.internal.socket.send;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** A thread hands messages over while the event loop takes in what was handed over before, or ends. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class SendersStress {

    private SendersStress() {}

    /** The thread sends another message. */
    @JCStressTest
    @Outcome(
            id = "0 left, room for 3 messages, 100 bytes",
            expect = Expect.ACCEPTABLE,
            desc = "The event loop has taken in both.")
    @Outcome(id = "1 left.*", expect = Expect.FORBIDDEN, desc = "One is left, and the event loop does not know of it.")
    @State
    public static class HandOver extends StressedSender {

        public HandOver() {
            super(3);
        }

        @Actor
        public void send() {
            pause();
            trySend(one);
        }

        @Actor
        public void takeIn() {
            loop.runTasks();
        }

        @Arbiter
        public void left(L_Result result) {
            result.r1 = left();
        }
    }

    /** The thread sends a message that waits in line if there is no room. */
    @JCStressTest
    @Outcome(
            id = "true, 0 left, room for 1 messages, 100 bytes",
            expect = Expect.ACCEPTABLE,
            desc = "It has left, from the line or not.")
    @Outcome(id = "false, 1 left.*", expect = Expect.FORBIDDEN, desc = "It stands in line, and there is room.")
    @State
    public static class Line extends StressedSender {

        private CompletableFuture<Void> sent = new CompletableFuture<>();

        public Line() {
            super(1);
        }

        @Actor
        public void send() {
            sent = senders.send(one, 64);
        }

        @Actor
        public void takeIn() {
            loop.runTasks();
        }

        @Arbiter
        public void left(ZL_Result result) {
            result.r2 = left();
            result.r1 = sent.isDone();
        }
    }

    /** The event loop ends while the thread sends a message. */
    @JCStressTest
    @Outcome(
            id = "true, 0 left, room for [123] messages.*",
            expect = Expect.ACCEPTABLE,
            desc = "The sender knows what became of it.")
    @Outcome(id = "false, 1 left.*", expect = Expect.FORBIDDEN, desc = "It waits for an event loop that has ended.")
    @State
    public static class LoopEnds extends StressedSender {

        private CompletableFuture<Void> sent = new CompletableFuture<>();

        public LoopEnds() {
            super(3);
            core.open();
        }

        @Actor
        public void send() {
            pause();
            sent = senders.send(one, 64);
        }

        @Actor
        public void end() {
            loop.end();
        }

        @Arbiter
        public void left(ZL_Result result) {
            result.r2 = left();
            result.r1 = sent.isDone();
        }
    }

    /** Two threads send when the event loop has ended, and the socket does not know yet. */
    @JCStressTest
    @Outcome(
            id = "true, true, 0 left, room for 1 messages, 98 bytes",
            expect = Expect.ACCEPTABLE,
            desc = "Both senders know that their messages were dropped.")
    @Outcome(
            id = {"true, false, 1 left.*", "false, true, 1 left.*", "false, false, 2 left.*"},
            expect = Expect.FORBIDDEN,
            desc = "A message waits for an event loop that has ended.")
    @State
    public static class LoopHasEnded extends StressedSender {

        private CompletableFuture<Void> sentOne = new CompletableFuture<>();
        private CompletableFuture<Void> sentTwo = new CompletableFuture<>();

        public LoopHasEnded() {
            super(3);
            loop.end();
        }

        @Actor
        public void one() {
            sentOne = senders.send(one, 64);
        }

        @Actor
        public void other() {
            sentTwo = senders.send(two, 64);
        }

        @Arbiter
        public void left(ZZL_Result result) {
            result.r3 = left();
            result.r1 = sentOne.isDone();
            result.r2 = sentTwo.isDone();
        }
    }

    /** A thread begins to wait while the message leaves that has the only room. */
    @JCStressTest
    @Outcome(
            id = "sent, 0 left, room for 1 messages, 100 bytes",
            expect = Expect.ACCEPTABLE,
            desc = "It was woken when there was room.")
    @Outcome(id = "TIMEOUT.*", expect = Expect.FORBIDDEN, desc = "It waits, and there is room.")
    @State
    public static class ThreadWaits extends StressedSender {

        private volatile String fate = "";

        public ThreadWaits() {
            super(1);
        }

        @Actor
        public void send() {
            fate = sendAndWait(one);
        }

        @Actor
        public void takeIn() {
            while (fate.isEmpty()) {
                loop.runTasks();
            }
        }

        @Arbiter
        public void left(LL_Result result) {
            result.r2 = left();
            result.r1 = fate;
        }
    }

    /** The socket is closed while a thread begins to wait. */
    @JCStressTest
    @Outcome(id = "sent", expect = Expect.ACCEPTABLE, desc = "It had room before.")
    @Outcome(id = "CLOSED", expect = Expect.ACCEPTABLE, desc = "The close has ended the wait.")
    @Outcome(id = "TIMEOUT", expect = Expect.FORBIDDEN, desc = "It waits for a socket that is closed.")
    @State
    public static class ThreadWaitsForClosed extends StressedSender {

        private volatile String fate = "";

        public ThreadWaitsForClosed() {
            super(1);
        }

        @Actor
        public void send() {
            fate = sendAndWait(one);
        }

        @Actor
        public void close() {
            pause();
            core.close(Duration.ZERO);
            while (fate.isEmpty()) {
                loop.runTasks();
            }
        }

        @Arbiter
        public void left(L_Result result) {
            result.r1 = fate;
        }
    }
}
