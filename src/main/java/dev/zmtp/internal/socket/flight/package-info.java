/** Events of sockets for the JDK's Flight Recorder. */
@NullMarked
package dev.zmtp.internal.socket.flight;

import org.jspecify.annotations.NullMarked;
