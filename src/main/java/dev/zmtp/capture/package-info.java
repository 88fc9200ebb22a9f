/** Captures of traffic, after decryption, in files that Wireshark opens. */
@NullMarked
package dev.zmtp.capture;

import org.jspecify.annotations.NullMarked;
