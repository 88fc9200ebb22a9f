/** Requests and their answers, with the frames before a message that say where it goes back to. */
@NullMarked
package dev.zmtp.internal.socket.request;

import org.jspecify.annotations.NullMarked;
