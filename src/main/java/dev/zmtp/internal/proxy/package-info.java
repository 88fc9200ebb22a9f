/** The insides of a proxy: two sockets, what forwards between them, and what copies it. */
@NullMarked
package dev.zmtp.internal.proxy;

import org.jspecify.annotations.NullMarked;
