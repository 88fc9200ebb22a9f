/** The internals of a proxy: two sockets, the forwarding between them, and the capture of copies. */
@NullMarked
package dev.zmtp.internal.proxy;

import org.jspecify.annotations.NullMarked;
