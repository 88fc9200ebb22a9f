/** The inside of the sockets. It is not exported, and may change in every version: keep out. */
@NullMarked
package dev.zmtp.internal.socket;

import org.jspecify.annotations.NullMarked;
