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
 * One side of the security handshake of a connection (RFC 23 and 37, "Security Mechanisms"). It receives and returns
 * commands, without I/O. See {@code docs/writing-a-mechanism.md} for how to implement a mechanism.
 *
 * <p>After the greetings, and after every command of the peer, the codec calls {@link #poll} until it returns null,
 * sends the results, and calls {@link #isReady}. Once that returns true, traffic begins. A mechanism can also wait for
 * an authenticator, or for a computation on another thread. During this time {@code poll} returns null, and
 * {@link Context#resume} makes the codec call it again.
 *
 * <p>All methods are called on the channel's event loop and must not block it. An exception from any method ends the
 * connection. If the peer is at fault, it is a {@link ZMTPException}.
 */
public interface ZMTPMechanism {

    /**
     * Returns the name in the greeting, which must equal the peer's. It has 1 to 20 upper-case letters, digits and
     * {@code - _ . +}.
     */
    String name();

    /** Returns the as-server bit of the greeting. The peer's bit is not checked. Default: false. */
    default boolean isServer() {
        return false;
    }

    /**
     * Returns whether to accept a peer that speaks ZMTP 2.0 or 1.0, which have no mechanisms. Default: false.
     *
     * <p>A mechanism that authenticates or encrypts must return false. Otherwise a peer could disable the security by
     * claiming to speak an older version.
     */
    default boolean allowsDowngrade() {
        return false;
    }

    /** Returns the body of the next command to send, to be released by the caller, or null if there is none for now. */
    @Nullable
    ByteBuf poll();

    /**
     * Handles the body of a command from the peer. The buffer remains owned by the caller, which releases it after the
     * call.
     *
     * <p>After the last command of the handshake {@link #isReady} must return true at once, because the peer's first
     * messages can follow directly. Do slow work before this side's own last command, for which the peer waits.
     *
     * @throws ZMTPException if this is not the expected command, or is an ERROR
     */
    void receive(ByteBuf command);

    /**
     * Returns whether the handshake is complete, so that all commands were polled and all expected commands received.
     */
    boolean isReady();

    /** Returns the metadata that the peer sent. Called once {@link #isReady} is true. */
    ZMTPMetadata peerMetadata();

    /**
     * Returns the body of an ERROR command with a reason for the peer, to be released by the caller, or null to send
     * nothing, if an answer would help an attacker. Called after {@link #receive} or {@link #poll} has thrown
     * {@code cause} and before the connection is closed.
     */
    @Nullable
    ByteBuf refuse(ZMTPException cause);

    /**
     * Returns the cipher for all frames after the handshake, or null to send them unencrypted. Called once, at the end.
     */
    default @Nullable FrameCipher cipher() {
        return null;
    }

    /** Wipes secrets and releases resources. Called exactly once, when the connection ends or the codec is removed. */
    default void close() {}

    /** Creates a mechanism for each connection. Shared by channels, so it must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new mechanism. Its constructor must not call the context. */
        ZMTPMechanism create(Context context);

        /**
         * Checks the config that uses this mechanism. Called when the config is built.
         *
         * @param protocol the highest version that is spoken
         * @param authenticator whether there is an authenticator
         * @throws IllegalArgumentException if the mechanism does not work with these values
         */
        default void check(ZMTPVersion protocol, boolean authenticator) {}
    }

    /**
     * Part of the connection that is accessible to a mechanism. All methods must be called on the event loop, except
     * {@link #resume} and {@link #handshakeExecutor}, which can be called from any thread.
     *
     * <p>The default methods read and write the grammar of commands (RFC 23, "Framing") for mechanisms.
     */
    interface Context {
        /**
         * Returns the metadata that this side sends to the peer, with Socket-Type, Identity where it belongs, and the
         * config's own properties.
         */
        ZMTPMetadata localMetadata();

        /**
         * Reads metadata from the rest of {@code data} within the configured limits and checks the Socket-Type.
         *
         * @throws ZMTPException if this is not metadata, or the socket types do not match
         */
        ZMTPMetadata readPeerMetadata(ByteBuf data);

        /** Returns the channel's allocator. */
        ByteBufAllocator alloc();

        /**
         * Returns the peer's address, or null if the channel does not know it. Behind a proxy, this is the address that
         * the proxy reported.
         */
        @Nullable
        SocketAddress peerAddress();

        /**
         * Queries the config's authenticator about the peer. Without an authenticator, every peer is accepted with
         * NULL, and no peer with any other mechanism.
         *
         * @param mechanism as in {@link ZMTPAuthRequest}, like {@code identity} and {@code credentials}
         * @param answer called once on the event loop, during this call or later; not called if the handshake ends
         *     first. The codec then calls {@link ZMTPMechanism#poll}. If the peer is accepted, its user ID is in the
         *     session
         */
        void authenticate(
                String mechanism, ByteBuffer identity, List<ByteBuffer> credentials, Consumer<ZMTPAuthDecision> answer);

        /** Returns the config's executor, for computations that would delay the event loop. It can reject a task. */
        Executor handshakeExecutor();

        /**
         * Makes the codec call {@link ZMTPMechanism#poll} and {@link ZMTPMechanism#isReady} again. Can be called from
         * any thread.
         */
        void resume();

        /**
         * Returns the body of a command with this name and no data, to which data can be appended. It is released by
         * the caller.
         *
         * @param name 1 to 255 ASCII characters
         * @param dataLength the expected number of appended bytes; the buffer grows if there are more
         */
        default ByteBuf command(String name, int dataLength) {
            return HandshakeCommands.start(alloc(), name, dataLength);
        }

        /** Appends {@link #localMetadata} to the body of a command. */
        default void writeMetadata(ByteBuf command) {
            Metadata.write(command, localMetadata());
        }

        /**
         * Returns the body of an ERROR command, to be released by the caller. The reason is truncated to 255 characters
         * of printable ASCII.
         */
        default ByteBuf error(String reason) {
            return Command.error(alloc(), reason);
        }

        /**
         * Checks the name of a command from the peer, and moves its reader index to the data.
         *
         * @throws ZMTPException if the command has another name; if it is an ERROR, in which case the exception has the
         *     peer's reason; or if it is malformed
         */
        default void expect(ByteBuf command, String name) {
            HandshakeCommands.expect(command, name);
        }
    }

    /**
     * Converts frames to sealed frames for the wire, and back (RFC 26, "MESSAGE"). Used on the channel's event loop
     * only.
     *
     * <p>A sealed frame is sent without MORE and COMMAND. These flags of a received sealed frame are ignored, and the
     * flags returned by {@link #open} count.
     */
    interface FrameCipher {
        /** Returns the length of a sealed body of {@code length} bytes. */
        int sealedLength(int length);

        /** Appends the sealed form of a frame to {@code out}. The indices of {@code body} do not change. */
        void seal(int flags, ByteBuf body, ByteBuf out);

        /**
         * Opens {@code sealed} in place, after which its readable bytes are the body. The buffer is writable and
         * remains owned by the caller.
         *
         * @return the flags of the frame, which are MORE, COMMAND or 0
         * @throws ZMTPException if the peer did not seal it, or it was opened before
         */
        int open(ByteBuf sealed);

        /**
         * Opens the received part of a sealed body in place if the body arrives in several reads. This leaves less work
         * for {@link #open}, which is called with the same buffer when the whole body has arrived. This method is
         * called any number of times before that, and no other frame is opened in between. By default it does nothing.
         *
         * <p>The opened bytes can be forged. The application does not receive them before {@code open} has succeeded.
         *
         * @param sealed the beginning of the body, which is writable and owned by the caller
         * @param length number of bytes to open, counted from the reader index; no fewer than in the previous call
         * @throws ZMTPException if the peer cannot have sealed it
         */
        default void openPart(ByteBuf sealed, int length) {}
    }
}
