package dev.zmtp.testing;

/** Heads of HTTP. */
public final class HttpText {

    private HttpText() {}

    /** Returns a text block with the line ends of HTTP. */
    public static String http(String head) {
        return head.replace("\n", "\r\n");
    }
}
