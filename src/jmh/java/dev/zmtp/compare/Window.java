package dev.zmtp.compare;

import java.time.Duration;

/**
 * How long things take in a run.
 *
 * @param warmup traffic that is not measured
 * @param measured traffic that is
 * @param patience how long any answer of a program is waited for
 */
record Window(Duration warmup, Duration measured, Duration patience) {}
