package dev.zmtp.compare;

import java.time.Duration;

/**
 * The times of a run.
 *
 * @param warmup traffic that is not measured
 * @param measured traffic that is
 * @param patience how long to wait for an answer of a program
 */
record Window(Duration warmup, Duration measured, Duration patience) {}
