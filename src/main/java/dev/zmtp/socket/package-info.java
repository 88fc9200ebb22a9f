/**
 * ZeroMQ's sockets on Netty's event loops: every pattern, with queues, reconnects, subscriptions and requests.
 *
 * <p>Start at {@link dev.zmtp.socket.ZMTPSocket}. A socket lives on one event loop and does all its work there. Its
 * methods may be called from any thread. {@link dev.zmtp.codec.ZMTPCodec} below it is for applications that have their
 * own pipeline, and does not depend on sockets.
 */
@NullMarked
package dev.zmtp.socket;

import org.jspecify.annotations.NullMarked;
