package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection's side of a security handshake (RFC 23 and 37, "Security Mechanisms"): commands in, commands out, no
 * I/O. {@code docs/writing-a-mechanism.md} shows how to write one.
 *
 * <p>After the greetings, and after every command of the peer, the codec calls {@link #poll} until it returns null,
 * sends the results, and calls {@link #isReady}. Once that is true, traffic begins. A mechanism may have to wait for
 * something other than its peer: an authenticator, or a computation on another thread. Until then {@code poll} returns
 * null, and {@link Context#resume} makes the codec call it again.
 *
 * <p>All methods are called on the channel's event loop and must not block it. An exception from any of them ends the
 * connection. If the peer is at fault, it is a {@link ZMTPException}.
 */
public interface ZMTPMechanism {

    /**
     * The name in the greeting, which must equal the peer's: 1 to 20 upper-case letters, digits and {@code - _ . +}.
     */
    String name();

    /** The as-server bit of the greeting. The peer's bit is not checked. Default: false. */
    default boolean isServer() {
        return false;
    }

    /**
     * Whether to accept a peer that speaks ZMTP 2.0 or 1.0, which have no mechanisms. Default: false.
     *
     * <p>A mechanism that authenticates or encrypts must return false. Otherwise a peer could remove the security by
     * pretending to be old.
     */
    default boolean allowsDowngrade() {
        return false;
    }

    /** Returns the body of the next command to send, the caller's to release; or null if there is none for now. */
    @Nullable
    ByteBuf poll();

    /**
     * Handles the body of a command from the peer. The buffer stays the caller's: it is released after the call.
     *
     * <p>After the last command of the handshake {@link #isReady} must be true at once, because the peer's first
     * messages may follow directly. Slow work belongs before this side's own last command, for which the peer waits.
     *
     * @throws ZMTPException if this is not the expected command, or is an ERROR
     */
    void receive(ByteBuf command);

    /** Whether the handshake is complete: all commands were polled, and all expected ones received. */
    boolean isReady();

    /** The metadata that the peer sent. Called once {@link #isReady} is true. */
    ZMTPMetadata peerMetadata();

    /**
     * Returns the body of an ERROR command that gives the peer a reason, the caller's to release; or null to send
     * nothing, if an answer would help an attacker. Called after {@link #receive} or {@link #poll} has thrown
     * {@code cause} and before the connection is closed.
     */
    @Nullable
    ByteBuf refuse(ZMTPException cause);

    /**
     * Returns the cipher for all frames after the handshake, or null to send them as they are. Called once, at the end.
     */
    default @Nullable FrameCipher cipher() {
        return null;
    }

    /**
     * Wipes secrets and releases what this side holds. Called exactly once, when the connection ends or the codec is
     * removed.
     */
    default void close() {}

    /** Makes a mechanism for each connection. Shared by channels: must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new mechanism. Its constructor must not call the context. */
        ZMTPMechanism create(Context context);

        /**
         * Checks the config that this mechanism is used in. Called when the config is built.
         *
         * @param protocol the highest version that is spoken
         * @param authenticator whether there is one
         * @throws IllegalArgumentException if the mechanism does not work with these
         */
        default void check(ZMTPVersion protocol, boolean authenticator) {}
    }

    /**
     * The part of its connection that a mechanism may use. All methods are for the event loop, except {@link #resume}
     * and {@link #executor}, which any thread may call.
     *
     * <p>The default methods read and write the grammar of commands (RFC 23, "Framing"), so that a mechanism need not.
     */
    interface Context {
        /**
         * Returns what we send to the peer: Socket-Type, Identity where it belongs, and the config's own properties.
         */
        ZMTPMetadata localMetadata();

        /**
         * Reads metadata from the rest of {@code data} within the configured limits and checks the Socket-Type.
         *
         * @throws ZMTPException if this is not metadata, or the socket types do not match
         */
        ZMTPMetadata readPeerMetadata(ByteBuf data);

        /** The channel's allocator. */
        ByteBufAllocator alloc();

        /**
         * The peer's address, or null if the channel does not know it. After a proxy, the one that the proxy reported.
         */
        @Nullable
        SocketAddress peerAddress();

        /**
         * Asks the config's authenticator about the peer. Without one, every peer is accepted with NULL, and none with
         * any other mechanism.
         *
         * @param mechanism as in {@link ZMTPAuthRequest}, as are {@code identity} and {@code credentials}
         * @param answer called once on the event loop, during this call or later; not called if the handshake ends
         *     first. The codec then calls {@link ZMTPMechanism#poll}. If the peer is accepted, its user ID is in the
         *     session
         */
        void authenticate(
                String mechanism, ByteBuffer identity, List<ByteBuffer> credentials, Consumer<ZMTPDecision> answer);

        /** The config's executor, for computations that would hold up the event loop. It may reject a task. */
        Executor executor();

        /** Makes the codec call {@link ZMTPMechanism#poll} and {@link ZMTPMechanism#isReady} again. From any thread. */
        void resume();

        /**
         * Returns the body of a command with this name and without data yet, to which data can be appended; the
         * caller's to release.
         *
         * @param name 1 to 255 ASCII characters
         * @param dataLength how many bytes will be appended; if there are more, the buffer grows
         */
        default ByteBuf command(String name, int dataLength) {
            return HandshakeCommands.start(alloc(), name, dataLength);
        }

        /** Appends {@link #localMetadata} to the body of a command. */
        default void writeMetadata(ByteBuf command) {
            Metadata.write(command, localMetadata());
        }

        /**
         * Returns the body of an ERROR command, the caller's to release. The reason is cut to 255 characters of
         * printable ASCII.
         */
        default ByteBuf error(String reason) {
            return Command.error(alloc(), reason);
        }

        /**
         * Checks the name of a command from the peer, and moves its reader index to the data.
         *
         * @throws ZMTPException if it has another name; if it is an ERROR, then with the peer's reason; or if it is
         *     malformed
         */
        default void expect(ByteBuf command, String name) {
            HandshakeCommands.expect(command, name);
        }
    }

    /**
     * Turns frames into the frames that travel, and back (RFC 26, "MESSAGE"). Used on the channel's event loop only.
     *
     * <p>A sealed frame travels without MORE and COMMAND. Those of a received one are ignored: what counts is what
     * {@link #open} returns.
     */
    interface FrameCipher {
        /** Returns the length of a sealed body of {@code length} bytes. */
        int sealedLength(int length);

        /** Appends the sealed form of a frame to {@code out}. The indices of {@code body} stay as they are. */
        void seal(int flags, ByteBuf body, ByteBuf out);

        /**
         * Opens {@code sealed} in place: its readable bytes become the body. The buffer is writable and stays the
         * caller's.
         *
         * @return the flags of the frame: MORE, COMMAND or 0
         * @throws ZMTPException if the peer did not seal it, or it was opened before
         */
        int open(ByteBuf sealed);

        /**
         * Opens in place what has arrived of a sealed body that comes in several reads, so that less is left for {@link
         * #open}, which is called with the same buffer when it has all of the body. Called any number of times before
         * that, and no other frame is opened in between. By default it does nothing.
         *
         * <p>What is opened so may be forged. The application does not get it before {@code open} has succeeded.
         *
         * @param sealed the beginning of the body, writable, and the caller's
         * @param length how many bytes to open, counted from the reader index; no fewer than in the call before
         * @throws ZMTPException if the peer cannot have sealed it
         */
        default void openPart(ByteBuf sealed, int length) {}
    }
}
