package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Passes requests to a handler, up to a bound at a time, and sends each answer back to the peer that asked. */
final class Serving implements Inbox.Sink {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Serving.class);

    private final SocketCore core;
    private final Function<ZMTPRequest, ? extends CompletionStage<ZMTPMessage>> handler;
    private final ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
    private int serving;

    Serving(SocketCore core, Function<ZMTPRequest, ? extends CompletionStage<ZMTPMessage>> handler) {
        this.core = core;
        this.handler = handler;
    }

    @Override
    public boolean wants() {
        return serving < core.config().maxOutstandingRequests();
    }

    @Override
    public void take(ZMTPPeer from, ZMTPMessage message) {
        int frames = Envelope.length(message);
        if (frames == 0) {
            Reception.malformed(from, message);
            return;
        }
        ZMTPRequest request = ZMTPRequest.of(core, from, message, frames, builder);
        serving++;
        CompletionStage<ZMTPMessage> answer;
        try {
            answer = Objects.requireNonNull(handler.apply(request), "the handler's stage");
        } catch (Throwable e) {
            ended(request, null, e);
            return;
        }
        answer.whenComplete((reply, failure) -> {
            if (core.inEventLoop()) {
                ended(request, reply, failure);
            } else if (!core.tryExecute(() -> ended(request, reply, failure))) {
                request.message().release();
                if (reply != null) {
                    reply.release();
                }
            }
        });
    }

    private void ended(ZMTPRequest request, @Nullable ZMTPMessage reply, @Nullable Throwable failure) {
        serving--;
        try {
            if (reply != null) {
                request.reply(reply, builder);
            } else {
                logger.warn("{} gets no answer", request, failure);
            }
        } catch (RuntimeException e) { // such as an answer that was already released
            logger.warn("{} gets no answer", request, e);
        }
        request.message().release();
        core.inbox().pump();
    }

    @Override
    public void closed() {}
}
