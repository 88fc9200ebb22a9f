/**
 * Messages under faults: {@link dev.zmtp.soak.Soak} is the command, and {@code docs/soak.md} describes how to use it.
 *
 * <p>{@link dev.zmtp.soak.SocketSoak} is a second command, whose ends are sockets: a {@code SocketLink} is a conversation
 * of two {@code SocketEnd}s, and a {@code SocketTally} checks what arrives at each.
 *
 * <p><b>How it is made.</b> A {@code Round} has servers of the codec, one for each {@code Pattern} of socket types, and
 * as many {@code Slot}s as there are to be connections. A slot runs one {@code Link} after the other: a peer of this
 * codec, of JeroMQ or of libzmq, which connects to a server through a {@code Proxy} of its own. Some peers of this codec
 * share memory with a server of their own in place of that; only their ends break the connection. A {@code Plan}, drawn
 * from the seed, says how much each end sends and which faults the proxy ({@code ProxyFault}) and the ends
 * ({@code EndFault}) do. Both ends of the codec are a {@code CodecEnd}. Each message ({@code Numbered}) names its
 * stream and its number there, and has a checksum. An {@code OutgoingStream} counts what was sent of a stream and what its
 * promises said, an {@code Incoming} checks what arrived.
 *
 * <p><b>What TCP promises, and what it does not.</b> Over one connection bytes arrive in order, once, and unchanged; so
 * what arrives is always a beginning of what was sent. It is not promised how much: a promise that succeeded says that
 * the bytes are the kernel's, no more. They are lost if the connection is reset, by whomever, and also if the other end
 * closes with bytes unread, or closes while ours are under way. ZMTP has no acknowledgement, so nobody can tell
 * afterwards.
 *
 * <p><b>What is checked at any time,</b> whatever is done to a connection:
 *
 * <ul> <li>a message that arrives has all its frames, and these are as they were sent; <li>what a connection brings of
 * a stream of the codec's is its beginning: nothing is missing in between, out of order or there twice. JeroMQ and
 * libzmq go on with the same stream on their next connection: there each connection brings a part without a gap, and no
 * message comes on two of them; <li>each promise completes once, and none succeeds after one that failed; <li>no
 * handshake and no connection fails but by a fault that was done to it, and none with a code that says that bytes were
 * wrong; <li>all channels are closed a while after their peers are gone.
 * </ul>
 *
 * <p><b>What is checked of a connection that was closed cleanly:</b> all arrived, and all promises succeeded. Clean is
 * what the ends agree on above TCP. The last message of a stream says that it is the last. A server that also sends
 * says so only when it has received the peer's last message; a peer closes when it has received the server's. Where
 * only the peer sends, it waits for its promises, shuts its output down, and the server closes when it has read the end
 * of the bytes; peers of other implementations cannot do that, and there the server closes when it has the last
 * message. Stalls, delays, small pieces, and ends that do not read for a while are no excuse: such a connection must
 * end cleanly too.
 *
 * <p><b>What is checked at the end:</b> no buffer is left, neither by the count of Netty's {@code LeakPresenceDetector}
 * nor by that of the server's allocator; no channel, task or timer in an event loop; no thread; and no more heap than
 * after a first round, but for {@link dev.zmtp.soak.Leftovers#HEAP_TOLERANCE}.
 */
package dev.zmtp.soak;
