/**
 * Benchmarks, run by hand with JMH.
 *
 * <p>One of them, with the bytes allocated for each operation; all of them, with a report to keep:
 *
 * <pre>
 *   mvn test-compile exec:exec@jmh -Djmh.args="EncodeBenchmark -p shape=FRAME_100 -prof gc"
 *   mvn test-compile exec:exec@jmh -Djmh.args="-prof gc -rf json -rff target/jmh.json"
 * </pre>
 *
 * <p>{@code -l} lists them, {@code -lp} their parameters too, and {@code -p name=value,value} chooses among these. A
 * quick look is {@code -f 1 -wi 1 -i 1}; its numbers are rough. {@code -jvmArgsAppend -Dio.netty.allocator.type=pooled}
 * takes the buffers from another allocator than Netty's default: the benchmarks prepend what they need, so that
 * appending removes nothing. A transport that the machine does not support fails with a message that says so, and the
 * others go on.
 *
 * <ul> <li>{@link dev.zmtp.bench.EncodeBenchmark}, {@link dev.zmtp.bench.DecodeBenchmark}: the codec alone; ns and
 * bytes for each message <li>{@link dev.zmtp.bench.FanOutBenchmark}: one message to many subscribers
 * <li>{@link dev.zmtp.bench.ThroughputBenchmark}: messages a second in one direction
 * <li>{@link dev.zmtp.bench.ReqRepBenchmark}, {@link dev.zmtp.bench.CustomReqRepBenchmark}: requests a second
 * <li>{@link dev.zmtp.bench.BatchFlusherBenchmark}: when to flush <li>{@link dev.zmtp.bench.CopyLimitBenchmark}: which
 * bodies to copy
 * </ul>
 *
 * <p>Every benchmark counts what it measures and fails if that is not what it should be, because a codec that loses
 * messages is fast. Times on different machines are hard to compare; allocated bytes, and ratios within one run, are
 * not.
 */
package dev.zmtp.bench;
