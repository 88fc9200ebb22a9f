/** The transports of sockets, and the grammar of their endpoints. They know no socket. */
@NullMarked
package dev.zmtp.internal.transport;

import org.jspecify.annotations.NullMarked;
