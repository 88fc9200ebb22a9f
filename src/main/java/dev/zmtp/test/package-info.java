/**
 * Tests of code that uses sockets: an event loop in virtual time, and a peer that a test controls byte by byte. Not for
 * production.
 */
@NullMarked
package dev.zmtp.test;

import org.jspecify.annotations.NullMarked;
