/**
 * ZeroMQ sockets on Netty's event loops, with all patterns, queues, reconnects, subscriptions and requests.
 *
 * <p>Start at {@link dev.zmtp.socket.ZMTPSocket}. A socket runs on a single event loop, and its methods can be called
 * from any thread. The underlying {@link dev.zmtp.codec.ZMTPCodec} is for applications with their own pipeline, and
 * does not depend on sockets.
 */
@NullMarked
package dev.zmtp.socket;

import org.jspecify.annotations.NullMarked;
