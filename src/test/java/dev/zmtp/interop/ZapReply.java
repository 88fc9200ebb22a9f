package dev.zmtp.interop;

/**
 * The reply of a ZAP handler (RFC 27).
 *
 * @param status 200, 300, 400 or 500
 * @param userId the client's user ID, if it is accepted
 */
public record ZapReply(int status, String userId) {

    static ZapReply accept(String userId) {
        return new ZapReply(200, userId);
    }

    static ZapReply refuse(int status) {
        return new ZapReply(status, "");
    }
}
