package dev.zmtp.internal.runtime;

/** The path of a WebSocket endpoint, which can have a query. */
public final class RequestPath {

    /** Text for errors about a path that is not valid. */
    public static final String EXPECTED = "a path of printable ASCII without blanks and #";

    private RequestPath() {}

    /** Returns whether a path begins with a slash and can be that of a request. */
    public static boolean isValid(String path) {
        return path.startsWith("/") && path.chars().allMatch(c -> c > ' ' && c <= '~' && c != '#');
    }

    /** Returns whether the target of a request is a path, with any query unless the path has a query. */
    public static boolean matches(String path, String uri) {
        return uri.equals(path) || (path.indexOf('?') < 0 && uri.startsWith(path + "?"));
    }
}
