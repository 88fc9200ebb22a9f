package dev.zmtp.examples;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A custom mechanism: the client sends a token, the server asks its authenticator about it. It does not encrypt, so it
 * belongs inside TLS. {@code docs/writing-a-mechanism.md} explains it.
 *
 * <pre>
 *   client: HELLO token-length:2 token metadata      server: READY metadata | ERROR
 * </pre>
 */
final class TokenMechanism {

    private static final String NAME = "TOKEN";
    private static final int MAX_LENGTH = 4096;

    private TokenMechanism() {}

    static ZMTPMechanism.Factory client(byte[] token) {
        if (token.length > MAX_LENGTH) {
            throw new IllegalArgumentException("token length: " + token.length + " (expected: <= " + MAX_LENGTH + ")");
        }
        byte[] copy = token.clone(); // the caller may wipe its array
        return context -> new Client(context, copy);
    }

    static ZMTPMechanism.Factory server() {
        return new ZMTPMechanism.Factory() {
            @Override
            public ZMTPMechanism create(ZMTPMechanism.Context context) {
                return new Server(context);
            }

            @Override
            public void check(ZMTPVersion protocol, boolean authenticator) {
                if (!authenticator) {
                    throw new IllegalArgumentException("authenticator: none (expected: one for a " + NAME + " server)");
                }
            }
        };
    }

    private static final class Client implements ZMTPMechanism {
        private enum ClientState {
            SEND_HELLO,
            AWAIT_READY,
            READY
        }

        private final Context context;
        private final byte[] token;
        private ClientState state = ClientState.SEND_HELLO;
        private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

        Client(Context context, byte[] token) {
            this.context = context;
            this.token = token;
        }

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public @Nullable ByteBuf poll() {
            if (state != ClientState.SEND_HELLO) {
                return null;
            }
            state = ClientState.AWAIT_READY;
            ByteBuf hello = context.command("HELLO", Short.BYTES + token.length);
            context.writeMetadata(hello.writeShort(token.length).writeBytes(token));
            return hello;
        }

        @Override
        public void receive(ByteBuf command) {
            context.expect(command, "READY");
            peer = context.readPeerMetadata(command);
            state = ClientState.READY;
        }

        @Override
        public boolean isReady() {
            return state == ClientState.READY;
        }

        @Override
        public ZMTPMetadata peerMetadata() {
            return peer;
        }

        @Override
        public @Nullable ByteBuf refuse(ZMTPException cause) {
            return null;
        }
    }

    private static final class Server implements ZMTPMechanism {
        private enum ServerState {
            AWAIT_HELLO,
            AWAIT_DECISION,
            READY
        }

        private final Context context;
        private byte[] token = {};
        private @Nullable ZMTPAuthDecision decision;
        private ServerState state = ServerState.AWAIT_HELLO;
        private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

        Server(Context context) {
            this.context = context;
        }

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public boolean isServer() {
            return true;
        }

        @Override
        public void receive(ByteBuf command) {
            if (state != ServerState.AWAIT_HELLO) {
                throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", "a second one", "none in " + state);
            }
            context.expect(command, "HELLO");
            token = readToken(command);
            peer = context.readPeerMetadata(command);
            state = ServerState.AWAIT_DECISION;
            context.authenticate(
                    NAME, ByteBuffer.allocate(0), List.of(ByteBuffer.wrap(token)), answer -> decision = answer);
        }

        private static byte[] readToken(ByteBuf data) {
            int length = data.readableBytes() < Short.BYTES ? -1 : data.readUnsignedShort();
            if (length < 0 || length > Math.min(MAX_LENGTH, data.readableBytes())) {
                throw ZMTPException.malformed(
                        "token length", length, "0 to " + Math.min(MAX_LENGTH, data.readableBytes()));
            }
            byte[] token = new byte[length];
            data.readBytes(token);
            return token;
        }

        @Override
        public @Nullable ByteBuf poll() {
            if (state != ServerState.AWAIT_DECISION || decision == null) {
                return null;
            }
            wipeToken();
            if (decision.status() != ZMTPAuthDecision.Status.ACCEPTED) {
                throw ZMTPException.of(ZMTPException.Code.AUTHENTICATION, "token", decision.text(), "a known one");
            }
            state = ServerState.READY;
            ByteBuf ready = context.command("READY", 0);
            context.writeMetadata(ready);
            return ready;
        }

        @Override
        public boolean isReady() {
            return state == ServerState.READY;
        }

        @Override
        public ZMTPMetadata peerMetadata() {
            return peer;
        }

        @Override
        public @Nullable ByteBuf refuse(ZMTPException cause) {
            if (cause.code() != ZMTPException.Code.AUTHENTICATION || decision == null) {
                return null; // the peer broke the protocol
            }
            return switch (decision.status()) {
                case DENIED, ERROR ->
                    context.error(Integer.toString(decision.status().code()));
                case ACCEPTED, TEMPORARY_FAILURE -> null; // the peer may try again
            };
        }

        @Override
        public void close() {
            wipeToken();
        }

        private void wipeToken() {
            Arrays.fill(token, (byte) 0);
        }
    }
}
