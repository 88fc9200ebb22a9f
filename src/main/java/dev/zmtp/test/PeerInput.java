package dev.zmtp.test;

import java.util.List;

/** Takes what a socket sends to the peer of a test. */
interface PeerInput {

    /** A message has arrived. */
    void message(List<byte[]> frames);

    /**
     * A subscription or a membership has arrived, or its end.
     *
     * @param name name of the command, such as {@code SUBSCRIBE}
     */
    void subscription(String name, byte[] topic);

    /** Returns whether more can be read. */
    boolean hasRoom();
}
