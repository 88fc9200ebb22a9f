/**
 * Programs that the comparison drives in the same way: each sends or receives by one library over TCP on
 * loopback, over Unix domain sockets or within a process.
 *
 * <p><b>Call.</b> {@code PeerMain <peer> <role> key=value...}, one process for each end of the connection;
 * {@code src/jmh/c/libzmq_peer.c} is the same for libzmq and {@code src/jmh/rust/src/main.rs} for omq, without the name of the peer. The roles are {@code receive}
 * (binds and counts), {@code send} (connects and sends as fast as it may), {@code answer} (binds), {@code ask}
 * (connects), {@code publish} (binds and sends as fast as it may), {@code subscribe} (connects and counts) and {@code
 * pair} (both ends in this process, each on a thread of its own).
 * {@link dev.zmtp.compare.peer.Arguments} has the keys.
 *
 * <p><b>Workloads.</b>
 *
 * <ul> <li>{@code oneway}: messages of one frame, from PUSH to PULL; from DEALER to ROUTER in a {@code pair}.
 * <li>{@code connections}: the same over many connections, all of one thread at each end, in turns.
 * <li>{@code pubsub}: a publisher and as many subscribers as connections, each of which wants everything.
 * <li>{@code news}: the same at a fixed rate, with the times until messages arrive, and with {@code mute} subscribers
 * that read nothing. <li>{@code proxy}: two publishers, a proxy and a subscriber in one process.
 * <li>{@code idle}: as many connections that shake hands and then are silent. <li>{@code reqrep}: a DEALER has
 * {@code outstanding} requests of six frames, or of one, in flight, a ROUTER sends each back. <li>{@code peers}: the
 * same from as many DEALERs as connections, in turn. <li>{@code connects}: the same, each over a connection that is made
 * for it. <li>{@code custom}: the same with an encoder and decoder
 * of the application's own types. <li>{@code roundtrip}: one request at a time, and its time. <li>{@code openloop}:
 * requests at a fixed rate, sent in bursts if late. Each carries the time when it <em>should</em> have been sent, and
 * the time until the answer is counted from then: a stall counts for all that it delayed. <li>{@code latency}: messages
 * at a fixed rate, whose times the end that receives them takes, by the clock that all processes of a machine have.
 * </ul>
 *
 * <p><b>Output.</b> {@code port=N} from an end that binds; {@code ready} from one that connects, when all handshakes
 * are complete, and then traffic begins; {@code unsupported=reason} and exit code 0 from a peer that cannot do this.
 *
 * <p><b>Commands</b> on standard input, one in a line:
 *
 * <ul> <li>{@code mark} prints {@code mark nanos=.. messages=..} and so on: figures since the start, of which two lines
 * make a rate ({@link dev.zmtp.compare.peer.Marks}). <li>{@code latencies} prints {@code latencies nanos:count,...}
 * since the last time. <li>{@code restart} makes an open loop drop the messages that are overdue, and prints nothing.
 * <li>{@code exit}, or the end of the input, ends the program.
 * </ul>
 *
 * <p>Exit codes: 0; 1 with the reason on standard error; 2 if the arguments are wrong.
 *
 * <p><b>Fairness.</b> What the Netty peers do with their messages is the same code for all of them, in
 * {@link dev.zmtp.compare.peer.CodecTraffic}; a {@link dev.zmtp.compare.peer.NettyLibrary} is what differs. That code
 * and the predecessor's library run on Netty 4.0 too: it calls only what Netty 4.0 and 4.2 have alike. This library's
 * sockets, in {@link dev.zmtp.compare.peer.ZmtpSockets}, are for comparison with the sockets of JeroMQ and libzmq.
 */
package dev.zmtp.compare.peer;
