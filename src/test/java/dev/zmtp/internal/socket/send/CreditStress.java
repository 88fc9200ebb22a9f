package dev.zmtp.internal.socket.send;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/** Threads take from the room of a socket, and its event loop gives back. The last result is what is left at the end. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class CreditStress {

    private CreditStress() {}

    /** There is room for one more message, and for the bytes of two. */
    @JCStressTest
    @Outcome(
            id = {"true, false, 0 messages, 40 bytes", "false, true, 0 messages, 40 bytes"},
            expect = Expect.ACCEPTABLE,
            desc = "One has it, and the other has taken nothing.")
    @State
    public static class LastMessage {

        private final Credit credit = new Credit();

        public LastMessage() {
            credit.give(1, 100);
        }

        @Actor
        public void one(ZZL_Result result) {
            result.r1 = credit.take(60);
        }

        @Actor
        public void other(ZZL_Result result) {
            result.r2 = credit.take(60);
        }

        @Arbiter
        public void left(ZZL_Result result) {
            result.r3 = credit.toString();
        }
    }

    /** There are bytes for one message and a part of another. Each thread tries it twice. */
    @JCStressTest
    @Outcome(
            id = {"0, 2, 8 messages, -20 bytes", "1, 1, 8 messages, -20 bytes", "2, 0, 8 messages, -20 bytes"},
            expect = Expect.ACCEPTABLE,
            desc = "One message goes beyond the bytes.")
    @State
    public static class LastBytes {

        private final Credit credit = new Credit();

        public LastBytes() {
            credit.give(10, 100);
        }

        private int taken() {
            return (credit.take(60) ? 1 : 0) + (credit.take(60) ? 1 : 0);
        }

        @Actor
        public void one(IIL_Result result) {
            result.r1 = taken();
        }

        @Actor
        public void other(IIL_Result result) {
            result.r2 = taken();
        }

        @Arbiter
        public void left(IIL_Result result) {
            result.r3 = credit.toString();
        }
    }

    /** The room of a message comes back while a thread takes it. */
    @JCStressTest
    @Outcome(id = "true, 0 messages, 100 bytes", expect = Expect.ACCEPTABLE, desc = "It came before.")
    @Outcome(id = "false, 1 messages, 160 bytes", expect = Expect.ACCEPTABLE, desc = "It came after, and is there.")
    @State
    public static class GivenBack {

        private final Credit credit = new Credit();

        public GivenBack() {
            credit.give(0, 100);
        }

        @Actor
        public void thread(ZL_Result result) {
            result.r1 = credit.take(60);
        }

        @Actor
        public void loop() {
            credit.give(1, 60);
        }

        @Arbiter
        public void left(ZL_Result result) {
            result.r2 = credit.toString();
        }
    }
}
