/**
 * Meters of sockets, proxies, memory budgets and limiters for <a href="https://docs.micrometer.io">Micrometer</a>, an
 * optional dependency.
 */
@NullMarked
package dev.zmtp.metrics;

import org.jspecify.annotations.NullMarked;
