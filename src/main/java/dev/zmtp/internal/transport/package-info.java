/** The transports of sockets, and the grammar of their endpoints. They are independent of sockets. */
@NullMarked
package dev.zmtp.internal.transport;

import org.jspecify.annotations.NullMarked;
