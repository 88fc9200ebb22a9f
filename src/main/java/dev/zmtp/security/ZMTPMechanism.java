package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection's side of a security handshake (RFC 23 and 37, "Security Mechanisms"): commands in, commands out, no I/O.
 *
 * <p>After the greetings, and after every command of the peer, the codec calls {@link #poll} until it returns null, sends
 * what it got, and asks {@link #isReady}. Once that is true, traffic begins. A mechanism that waits for something else than
 * its peer, such as an answer about a password, or a computation on another thread, returns null from {@code poll} and
 * calls {@link Context#resume} when it is there.
 *
 * <p>All methods are called on the channel's event loop and must not block it. An exception from any of them ends the
 * connection; a peer's fault is a {@link ZMTPException}.
 */
public interface ZMTPMechanism {

    /** The name in the greeting, which the peer's must equal: 1 to 20 upper-case letters, digits and {@code - _ . +}. */
    String name();

    /** Whether the greeting says as-server. Nobody checks it. */
    default boolean isServer() {
        return false;
    }

    /**
     * Whether a peer that speaks ZMTP 2.0 or 1.0, which have no mechanisms, may stay. A mechanism that authenticates or
     * encrypts must not allow it: else a peer could strip the security by pretending to be old.
     */
    default boolean allowsDowngrade() {
        return false;
    }

    /** The body of the next command to send, the caller's to release; or null if there is none for now. */
    @Nullable
    ByteBuf poll();

    /**
     * Takes the body of a command from the peer, which stays the caller's to release.
     *
     * <p>The last command that it waits for must make it ready at once, since the peer's first messages may be right behind:
     * whatever takes time is to be done before its own last command.
     *
     * @throws ZMTPException if it is not the command that is expected now, or is an ERROR
     */
    void receive(ByteBuf command);

    /** Whether the handshake is over in both directions: all commands were polled and all expected ones received. */
    boolean isReady();

    /** What the peer told of itself. Called once {@link #isReady} is true. */
    ZMTPMetadata peerMetadata();

    /**
     * The body of an ERROR command that tells the peer why it is refused, the caller's to release; or null to say nothing,
     * where an answer would help an attacker. Called when {@link #receive} or {@link #poll} has thrown {@code cause}, before
     * the connection is closed.
     */
    @Nullable
    ByteBuf refuse(ZMTPException cause);

    /** How frames travel once the handshake is over, or null if they travel as they are. Called once, then. */
    default @Nullable FrameCipher cipher() {
        return null;
    }

    /** Wipes secrets and lets go of what is held. Called exactly once, when the connection or its codec ends. */
    default void close() {}

    /** Makes a mechanism for each connection. Shared by channels: must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new mechanism. It must not call the context before the first call of its own methods. */
        ZMTPMechanism create(Context context);

        /**
         * Refuses what this mechanism must not be combined with. Called when a config is built.
         *
         * @param protocol the highest version that is spoken
         * @param authenticator whether there is one
         * @throws IllegalArgumentException if they do not go together
         */
        default void check(ZMTPVersion protocol, boolean authenticator) {}
    }

    /** What a mechanism may ask of the codec. All methods but {@link #resume} and {@link #executor} belong to the event loop. */
    interface Context {
        /** What we tell the peer: Socket-Type, Identity where it belongs, and the application's own properties. */
        ZMTPMetadata localMetadata();

        /**
         * Reads metadata from the rest of {@code data} within the configured limits and checks the Socket-Type.
         *
         * @throws ZMTPException if the octets are no metadata, or the socket types do not go together
         */
        ZMTPMetadata readPeerMetadata(ByteBuf data);

        /** The channel's allocator. */
        ByteBufAllocator alloc();

        /** Who is at the other end, if the channel knows. */
        @Nullable
        SocketAddress remoteAddress();

        /**
         * Asks the config's authenticator whether the peer may come in. Without one everybody may with NULL, and nobody with
         * another mechanism.
         *
         * @param mechanism as in {@link ZMTPAuthRequest}, as are {@code identity} and {@code credentials}
         * @param answer called once, now or later, on the event loop; or never, if the handshake has ended by then. Then the
         *     codec goes on with {@link ZMTPMechanism#poll}. If it accepts, the session has the user id
         */
        void authenticate(
                String mechanism, ByteBuffer identity, List<ByteBuffer> credentials, Consumer<ZMTPDecision> answer);

        /** Where to compute what would hold up the event loop; the config's. It may refuse. */
        Executor executor();

        /** Lets the codec call {@link ZMTPMechanism#poll} and {@link ZMTPMechanism#isReady} again. From any thread. */
        void resume();
    }

    /** Turns frames into the frames that travel, and back (RFC 26, "MESSAGE"). Used on the channel's event loop only. */
    interface FrameCipher {
        /** The octets that a body of {@code length} octets takes when it is sealed. */
        int sealedLength(int length);

        /** Appends the sealed form of a frame to {@code out}. {@code body} is neither moved nor released. */
        void seal(int flags, ByteBuf body, ByteBuf out);

        /**
         * Opens {@code sealed}, which can be written, in place: its readable octets become the body.
         *
         * @return the flags of the frame: MORE, COMMAND or 0
         * @throws ZMTPException if it was not sealed by the peer, or was before
         */
        int open(ByteBuf sealed);
    }
}
