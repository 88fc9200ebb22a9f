package dev.zmtp.internal.runtime;

import java.util.List;

/** The path of a WebSocket endpoint, which can have a query. */
public final class RequestPath {

    /** Text for errors about a path that is not valid. */
    public static final String EXPECTED = "a path of printable ASCII without blanks and #";

    private static final List<String> SCHEMES = List.of("http://", "https://");

    private RequestPath() {}

    /** Returns whether a path begins with a slash and can be that of a request. */
    public static boolean isValid(String path) {
        return path.startsWith("/") && path.chars().allMatch(c -> c > ' ' && c <= '~' && c != '#');
    }

    /**
     * Returns whether the target of a request is a path, with any query unless the path has a query. The target can be
     * an absolute URI (RFC 9112, section 3.2.2).
     */
    public static boolean matches(String path, String target) {
        String uri = withoutAuthority(target);
        return uri.equals(path) || (path.indexOf('?') < 0 && uri.startsWith(path + "?"));
    }

    private static String withoutAuthority(String target) {
        for (String scheme : SCHEMES) {
            if (target.regionMatches(true, 0, scheme, 0, scheme.length())) {
                int slash = target.indexOf('/', scheme.length());
                return slash < 0 ? "/" : target.substring(slash);
            }
        }
        return target;
    }
}
