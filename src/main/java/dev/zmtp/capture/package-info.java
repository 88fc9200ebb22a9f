/** Captures of traffic, after decryption, in files that Wireshark opens and programs read again. */
@NullMarked
package dev.zmtp.capture;

import org.jspecify.annotations.NullMarked;
