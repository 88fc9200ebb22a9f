package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.receive.Received;
import dev.zmtp.internal.socket.receive.StressedReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/** What a thread waits for comes in the moment in which it waits no longer. */
@SuppressWarnings("this-escape") // jcstress makes the cases, and nobody extends them
public final class WaitingStress {

    private WaitingStress() {}

    /** A message arrives at the end of the time for it. The last result is what is left. */
    @JCStressTest
    @Outcome(id = "1, ", expect = Expect.ACCEPTABLE, desc = "The thread has the message.")
    @Outcome(id = "late, 1", expect = Expect.ACCEPTABLE, desc = "The message waits for the next receiver.")
    @Outcome(id = "late, ", expect = Expect.FORBIDDEN, desc = "The message is lost.")
    @State
    public static class TimeOut extends StressedReceiver {

        private static final Duration SHORT = Duration.ofNanos(1);

        private @Nullable String received;

        public TimeOut() {
            arrives("1");
        }

        @Actor
        public void read() {
            try {
                ZMTPMessage message = Waiting.receive(receive(), SHORT);
                received = message == null ? "late" : text(message);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Actor
        public void deliver() {
            loop.runTasks();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = left();
            result.r1 = received;
        }
    }

    /** A message arrives while the thread is interrupted. */
    @JCStressTest
    @Outcome(id = "1, ", expect = Expect.ACCEPTABLE, desc = "The thread has the message.")
    @Outcome(id = "interrupted, 1", expect = Expect.ACCEPTABLE, desc = "The message waits for the next receiver.")
    @Outcome(id = "interrupted, ", expect = Expect.FORBIDDEN, desc = "The message is lost.")
    @State
    public static class Interrupt extends StressedReceiver {

        private @Nullable String received;

        public Interrupt() {
            arrives("1");
        }

        @Actor
        public void read() {
            Received next = receive();
            Thread.currentThread().interrupt();
            try {
                received = text(Waiting.receive(next));
            } catch (InterruptedException e) {
                received = "interrupted";
            }
            Thread.interrupted();
        }

        @Actor
        public void deliver() {
            loop.runTasks();
        }

        @Arbiter
        public void end(LL_Result result) {
            result.r2 = left();
            result.r1 = received;
        }
    }

    /** An answer arrives while the thread that asked is interrupted. The last result is who still has the answer. */
    @JCStressTest
    @Outcome(id = "answered, 1", expect = Expect.ACCEPTABLE, desc = "The thread has the answer.")
    @Outcome(id = "interrupted, 0", expect = Expect.ACCEPTABLE, desc = "The answer is released.")
    @Outcome(id = "interrupted, 1", expect = Expect.FORBIDDEN, desc = "The answer is never released.")
    @State
    public static class InterruptedRequest {

        /** So large that it is not copied, but released with its message. */
        private static final byte[] LARGE = new byte[10_000];

        private final CompletableFuture<ZMTPMessage> answer = new LoopFuture<>();
        private final ByteBuf frame = Unpooled.wrappedBuffer(LARGE);
        private @Nullable String end;

        @Actor
        public void ask() {
            Thread.currentThread().interrupt();
            try {
                Waiting.answer(answer);
                end = "answered";
            } catch (InterruptedException e) {
                end = "interrupted";
            }
            Thread.interrupted();
        }

        @Actor
        public void answer() {
            ZMTPMessage message = ZMTPMessage.from(frame);
            if (!answer.complete(message)) {
                message.release();
            }
        }

        @Arbiter
        public void end(LI_Result result) {
            result.r1 = end;
            result.r2 = frame.refCnt();
        }
    }
}
