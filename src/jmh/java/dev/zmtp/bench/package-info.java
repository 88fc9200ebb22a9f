/**
 * Benchmarks, run by hand with JMH.
 *
 * <p>One of them, with the octets allocated for each operation; all of them, with a report to keep:
 *
 * <pre>
 *   mvn -Pjmh test-compile exec:exec@jmh -Djmh.args="EncodeBenchmark -p shape=FRAME_100 -prof gc"
 *   mvn -Pjmh test-compile exec:exec@jmh -Djmh.args="-prof gc -rf json -rff target/jmh.json"
 * </pre>
 *
 * <p>{@code -l} lists them, {@code -lp} their parameters too, and {@code -p name=value,value} chooses among these. A quick look
 * is {@code -f 1 -wi 1 -i 1}; its numbers are rough. {@code -jvmArgsAppend -Dio.netty.allocator.type=pooled} takes the buffers
 * from another allocator than Netty's default: what the benchmarks themselves need is prepended, so that appending takes
 * nothing away. A transport that the machine does not have fails with a message that says so, and the others go on.
 *
 * <ul>
 *   <li>{@link dev.zmtp.bench.EncodeBenchmark}, {@link dev.zmtp.bench.DecodeBenchmark}: the codec alone; ns and octets for
 *       each message
 *   <li>{@link dev.zmtp.bench.ThroughputBenchmark}: messages a second in one direction
 *   <li>{@link dev.zmtp.bench.ReqRepBenchmark}, {@link dev.zmtp.bench.CustomReqRepBenchmark}: requests a second
 *   <li>{@link dev.zmtp.bench.BatchFlusherBenchmark}: when to flush
 *   <li>{@link dev.zmtp.bench.CopyLimitBenchmark}: which bodies to copy
 * </ul>
 *
 * <p>Every benchmark counts what it measures and fails if that is not what it should be, since a codec that loses messages
 * is fast. Times tell little across machines; octets allocated, and ratios within one run, tell more.
 */
package dev.zmtp.bench;
