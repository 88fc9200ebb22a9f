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
 * <p>{@code -l} lists them, {@code -lp} their parameters too, and {@code -p name=value,value} chooses among these. To see how
 * a change of one number matters, give {@code -jvmArgsAppend}: {@code -Dio.netty.allocator.type=pooled} takes the buffers from
 * another allocator than Netty's default.
 *
 * <p>Every benchmark counts what it measures and fails if that is not what it should be, since a codec that loses messages
 * is fast. Times tell little across machines; octets allocated, and ratios within one run, tell more.
 */
package dev.zmtp.bench;
