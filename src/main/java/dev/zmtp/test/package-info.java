/**
 * Tests of code that uses sockets: an event loop in virtual time, a peer that a test controls byte by byte, and replays
 * of recorded peers. Not for production.
 */
@NullMarked
package dev.zmtp.test;

import org.jspecify.annotations.NullMarked;
