package dev.zmtp.bench;

/** What an application writes and receives. */
public enum Api {
    /** A {@code ZMTPMessage}. */
    MESSAGE,
    /** A type of its own, with an encoder and a decoder. */
    CUSTOM
}
