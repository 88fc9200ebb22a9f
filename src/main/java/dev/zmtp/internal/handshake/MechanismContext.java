package dev.zmtp.internal.handshake;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.connection.TlsPeer;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.wire.Metadata;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.security.ZMTPNull;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The context that the mechanism of a connection uses to access its codec. */
final class MechanismContext implements ZMTPMechanism.Context {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.MechanismContext");

    /** Shared by all connections, because a rejected peer returns. */
    private static final RateLimitedLog FAILURES = new RateLimitedLog(logger, InternalLogLevel.WARN, System::nanoTime);

    private static final ZMTPAuthDecision ACCEPTED = ZMTPAuthDecision.accept("");

    private final Connection connection;

    MechanismContext(Connection connection) {
        this.connection = connection;
    }

    @Override
    public ZMTPMetadata localMetadata() {
        ZMTPConfig config = connection.config();
        ZMTPMetadata metadata = ZMTPMetadata.EMPTY.with(
                ZMTPMetadata.SOCKET_TYPE, config.socketType().name());
        if (config.socketType().announcesIdentity()) {
            metadata = metadata.with(ZMTPMetadata.IDENTITY, config.localIdentity());
        }
        for (int i = 0; i < config.properties().size(); i++) {
            metadata = metadata.with(
                    config.properties().name(i), config.properties().value(i));
        }
        return metadata;
    }

    @Override
    public ZMTPMetadata readPeerMetadata(ByteBuf data) {
        ZMTPMetadata peer = Metadata.read(data, connection.config().maxMetadataProperties());
        connection.memory().announced(peer); // now, because the authenticator can take time
        connection.policy().checkMetadata(peer);
        return peer;
    }

    @Override
    public ByteBufAllocator alloc() {
        return connection.ctx().alloc();
    }

    @Override
    public @Nullable SocketAddress peerAddress() {
        return connection.session().peerAddress();
    }

    @Override
    public Executor handshakeExecutor() {
        return this::compute;
    }

    private void compute(Runnable step) {
        Session session = connection.session();
        AtomicBoolean working = new AtomicBoolean(true);
        Runnable endOnce = () -> {
            if (working.getAndSet(false)) {
                session.endWork();
            }
        };
        session.beginWork();
        try {
            connection.config().handshakeExecutor().execute(() -> {
                try {
                    step.run();
                } finally {
                    onEventLoop(endOnce); // after the step has resumed the mechanism, because the peer waits until then
                }
            });
        } catch (RuntimeException | Error e) { // it will not run, or has failed in the call
            endOnce.run();
            throw e;
        }
    }

    @Override
    public void authenticate(
            String mechanism, ByteBuffer identity, List<ByteBuffer> credentials, Consumer<ZMTPAuthDecision> answer) {
        ZMTPAuthenticator authenticator = connection.config().authenticator();
        if (authenticator == null) {
            boolean secured = !mechanism.equals(ZMTPNull.NAME);
            answer.accept(secured ? ZMTPAuthDecision.error("there is no authenticator") : ACCEPTED);
            return;
        }
        ZMTPAuthRequest request = new ZMTPAuthRequest(
                connection.config().domain(),
                peerAddress(),
                identity,
                mechanism,
                credentials,
                TlsPeer.certificates(connection.ctx().pipeline()),
                UnixPeer.credentials(connection.ctx().channel()));
        new Question(answer).ask(authenticator, request);
    }

    /** A request to the authenticator, which can reply immediately or later, from any thread. */
    private final class Question {
        private final Consumer<ZMTPAuthDecision> answer;
        private final AtomicBoolean isAnswered = new AtomicBoolean();
        private boolean asking;

        /** Set if the reply arrives during the call, because the future would swallow exceptions of the mechanism. */
        private @Nullable Runnable atOnce;

        Question(Consumer<ZMTPAuthDecision> answer) {
            this.answer = answer;
        }

        void ask(ZMTPAuthenticator authenticator, ZMTPAuthRequest request) {
            asking = true;
            connection.session().beginWork();
            try {
                authenticator.authenticate(request).whenComplete(this::answered);
            } catch (Throwable e) {
                answered(null, e);
            } finally {
                asking = false;
            }
            if (atOnce != null) {
                thenEndWork(atOnce);
            }
        }

        /** Ends the work last, because the peer waits until this side has replied. */
        private void thenEndWork(Runnable step) {
            try {
                step.run();
            } finally {
                connection.session().endWork();
            }
        }

        private void answered(@Nullable ZMTPAuthDecision made, @Nullable Throwable failure) {
            if (isAnswered.getAndSet(true)) { // the authenticator's future calls this, and then fails the call
                return;
            }
            Runnable decision = () -> decide(made, failure);
            if (connection.ctx().executor().inEventLoop() && asking) {
                atOnce = decision;
            } else {
                onEventLoop(() -> thenEndWork(() -> connection.resumeMechanism(decision)));
            }
        }

        private void decide(@Nullable ZMTPAuthDecision made, @Nullable Throwable failure) {
            if (connection.session().isHandshakeDone()) {
                return;
            }
            ZMTPAuthDecision decision = made;
            if (failure != null || decision == null) {
                FAILURES.log(connection.ctx().channel(), "authenticator failed, peer refused", failure);
                decision = ZMTPAuthDecision.error(failure == null ? "no decision" : "the authenticator failed");
            }
            connection.session().decide(decision);
            answer.accept(decision);
        }
    }

    @Override
    public void resume() {
        onEventLoop(() -> connection.resumeMechanism(() -> {}));
    }

    private void onEventLoop(Runnable step) {
        try {
            connection.ctx().executor().execute(step);
        } catch (RejectedExecutionException e) {
            logger.debug(
                    "{} handshake cannot continue: the event loop has ended",
                    connection.ctx().channel(),
                    e);
        }
    }
}
