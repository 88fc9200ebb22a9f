package dev.zmtp.cli;

import java.util.regex.Pattern;

/** Endpoints as users write them: the host of {@code tcp://:5555} is {@code *} or {@code localhost}. */
final class EndpointArguments {

    private static final Pattern NO_HOST = Pattern.compile("^(tcp|wss?)://(?=:)");

    private EndpointArguments() {}

    static String toBind(String text) {
        return withHost(text, "*");
    }

    static String toConnect(String text) {
        return withHost(text, "localhost");
    }

    private static String withHost(String text, String host) {
        return NO_HOST.matcher(text).replaceFirst("$1://" + host);
    }
}
