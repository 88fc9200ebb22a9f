/**
 * What connections share: the limits on how many there are, by address and by user, and the budget of their memory.
 */
@NullMarked
package dev.zmtp.internal.admission;

import org.jspecify.annotations.NullMarked;
