/**
 * One connection, whatever phase it is in: its parts, the way that phases follow each other, what it reads, the
 * memory that it keeps, and its end.
 */
@NullMarked
package dev.zmtp.internal.connection;

import org.jspecify.annotations.NullMarked;
