package dev.zmtp.cli;

/** Endpoints as users write them: the host of {@code tcp://:5555} is {@code *} or {@code localhost}. */
final class EndpointArguments {

    private static final String NO_HOST = "tcp://:";

    private EndpointArguments() {}

    static String toBind(String text) {
        return withHost(text, "*");
    }

    static String toConnect(String text) {
        return withHost(text, "localhost");
    }

    private static String withHost(String text, String host) {
        return text.startsWith(NO_HOST) ? "tcp://" + host + text.substring(NO_HOST.length() - 1) : text;
    }
}
