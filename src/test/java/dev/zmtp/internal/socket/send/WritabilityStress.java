package dev.zmtp.internal.socket.send;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A sender finds no room while the event loop makes some: whoever is refused is told when there is room. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class WritabilityStress {

    private WritabilityStress() {}

    /** The only place is taken by a message that the event loop is about to take in. */
    @JCStressTest
    @Outcome(
            id = {"accepted, 0 left, room for 1 messages, 100 bytes", "told, 0 left, room for 1 messages, 100 bytes"},
            expect = Expect.ACCEPTABLE,
            desc = "The message is accepted, or its sender told.")
    @Outcome(id = "forgotten.*", expect = Expect.FORBIDDEN, desc = "The sender waits, and there is room.")
    @State
    public static class Refused extends StressedSender {

        private int before;
        private boolean accepted;

        public Refused() {
            super(1);
        }

        @Actor
        public void send() {
            pause();
            before = told();
            accepted = trySend(one);
        }

        @Actor
        public void takeIn() {
            loop.runTasks();
        }

        @Arbiter
        public void left(LL_Result result) {
            result.r2 = left();
            result.r1 = fate(accepted, before);
        }
    }

    /** The sender asks first, and there is room for one more, which is too little. */
    @JCStressTest
    @Outcome(
            id = {"accepted, 0 left, room for 2 messages, 100 bytes", "told, 0 left, room for 2 messages, 100 bytes"},
            expect = Expect.ACCEPTABLE,
            desc = "The socket is writable, or the sender told.")
    @Outcome(id = "forgotten.*", expect = Expect.FORBIDDEN, desc = "The sender waits, and there is room.")
    @State
    public static class NotWritable extends StressedSender {

        private int before;
        private boolean writable;

        public NotWritable() {
            super(2);
        }

        @Actor
        public void ask() {
            pause();
            before = told();
            writable = room.isOpen();
        }

        @Actor
        public void takeIn() {
            loop.runTasks();
        }

        @Arbiter
        public void left(LL_Result result) {
            result.r2 = left();
            result.r1 = fate(writable, before);
        }
    }

    /** A sender was refused. Another one is, as the line is full, too, and stands there for a moment. */
    @JCStressTest
    @Outcome(
            id = "told, 0 left, room for 1 messages, 100 bytes",
            expect = Expect.ACCEPTABLE,
            desc = "The first sender is told.")
    @Outcome(id = "forgotten.*", expect = Expect.FORBIDDEN, desc = "The first sender waits, and there is room.")
    @State
    public static class FullLine extends StressedSender {

        private final int before;

        public FullLine() {
            super(1);
            senders.send(message("in line"), 64);
            before = told();
            if (trySend(one)) {
                throw new AssertionError("there is no room yet");
            }
        }

        @Actor
        public void send() {
            pause();
            senders.send(two, 64);
        }

        @Actor
        public void takeIn() {
            loop.runTasks();
        }

        @Arbiter
        public void left(LL_Result result) {
            result.r2 = left();
            result.r1 = fate(false, before);
        }
    }
}
