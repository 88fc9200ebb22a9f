/** Requests and their answers, with the frames before a message that contain its way back. */
@NullMarked
package dev.zmtp.internal.socket.request;

import org.jspecify.annotations.NullMarked;
