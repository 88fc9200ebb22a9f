package dev.zmtp.compare;

import java.time.Duration;

/**
 * The times of a comparison.
 *
 * @param warmup traffic of each peer before its first window
 * @param settling traffic before each window, after a pause
 * @param measured traffic that is measured
 * @param patience how long to wait for an answer of a program
 */
record Window(Duration warmup, Duration settling, Duration measured, Duration patience) {}
