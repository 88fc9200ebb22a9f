/**
 * Resources that connections share: the limits on their number, by address and by user, and the budget of their memory.
 */
@NullMarked
package dev.zmtp.internal.admission;

import org.jspecify.annotations.NullMarked;
