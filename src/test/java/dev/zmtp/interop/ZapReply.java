package dev.zmtp.interop;

/**
 * What a ZAP handler says (RFC 27).
 *
 * @param status 200, 300, 400 or 500
 * @param userId who the client is, if it may come in
 */
public record ZapReply(int status, String userId) {

    static ZapReply accept(String userId) {
        return new ZapReply(200, userId);
    }

    static ZapReply refuse(int status) {
        return new ZapReply(status, "");
    }
}
