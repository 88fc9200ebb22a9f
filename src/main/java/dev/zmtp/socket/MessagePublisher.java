package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.Flow;

/** A socket's messages as a stream, for one subscriber at a time. What it demands is read. */
final class MessagePublisher implements Flow.Publisher<ZMTPMessage> {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MessagePublisher.class);

    private final SocketCore core;

    MessagePublisher(SocketCore core) {
        this.core = core;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ZMTPMessage> subscriber) {
        Subscribed subscribed = new Subscribed(core, Objects.requireNonNull(subscriber, "subscriber"));
        if (!core.tryExecute(subscribed::start)) {
            subscribed.refuse(new ZMTPSocketException(ZMTPSocketException.Reason.CLOSED, "the event loop has ended"));
        }
    }

    private static final class Subscribed implements Flow.Subscription, Inbox.Sink {
        private final SocketCore core;
        private final Flow.Subscriber<? super ZMTPMessage> subscriber;
        private long demand;
        private boolean ended;

        Subscribed(SocketCore core, Flow.Subscriber<? super ZMTPMessage> subscriber) {
            this.core = core;
            this.subscriber = subscriber;
        }

        void start() {
            try {
                core.checkOpen();
                core.inbox().claim();
                core.inbox().sink(this);
            } catch (ZMTPSocketException e) {
                refuse(e);
                return;
            }
            try {
                subscriber.onSubscribe(this);
            } catch (Throwable e) {
                failed("onSubscribe", e);
            }
        }

        /** A subscriber that throws has cancelled (Reactive Streams, 2.13). */
        private void failed(String method, Throwable e) {
            end();
            logger.warn("{} of a subscriber failed: it gets no more messages", method, e);
        }

        void refuse(ZMTPSocketException cause) {
            ended = true;
            subscriber.onSubscribe(this);
            subscriber.onError(cause);
        }

        @Override
        public void request(long n) {
            core.tryExecute(() -> {
                if (ended) {
                    return;
                }
                if (n <= 0) {
                    end();
                    subscriber.onError(new IllegalArgumentException("demand: " + n + " (expected: >= 1)"));
                    return;
                }
                demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
                core.inbox().pump();
            });
        }

        @Override
        public void cancel() {
            core.executeHere(this::end);
        }

        private void end() {
            ended = true;
            core.inbox().unsink(this);
        }

        @Override
        public boolean wants() {
            return !ended && demand > 0;
        }

        @Override
        public void take(ZMTPPeer from, ZMTPMessage message) {
            if (demand != Long.MAX_VALUE) {
                demand--;
            }
            ZMTPMessage presented = core.present(from, message);
            try {
                subscriber.onNext(presented);
            } catch (Throwable e) {
                failed("onNext", e);
            }
        }

        @Override
        public void closed() {
            ended = true;
            try {
                subscriber.onComplete();
            } catch (Throwable e) {
                failed("onComplete", e);
            }
        }
    }
}
