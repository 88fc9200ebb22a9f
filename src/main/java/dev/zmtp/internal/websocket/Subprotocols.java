package dev.zmtp.internal.websocket;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.UpgradedSession;
import dev.zmtp.security.ZMTPNull;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sub-protocols that this side speaks, the best first. Without a mechanism, a peer has neither a socket type nor
 * heartbeats, so a server prefers NULL whatever the order of the client.
 */
record Subprotocols(List<ZwsProtocol> spoken) {

    /** Called on the event loop when the codec is in the pipeline. */
    static Subprotocols of(ZMTPSession session) {
        ZMTPConfig config = session.config();
        String mechanism = ((UpgradedSession) session).mechanismName(); // as each session that a codec accepts
        List<ZwsProtocol> spoken = new ArrayList<>();
        spoken.add(new ZwsProtocol(mechanism));
        if (mechanism.equals(ZMTPNull.NAME) && isBareAllowed(config)) {
            spoken.add(ZwsProtocol.BARE);
        }
        return new Subprotocols(spoken);
    }

    private static boolean isBareAllowed(ZMTPConfig config) {
        return config.interop()
                && config.authenticator() == null
                && !config.socketType().isDraft();
    }

    /** Returns the sub-protocol of this name; null if this side does not speak it. */
    @Nullable
    ZwsProtocol named(String name) {
        return spoken.stream()
                .filter(protocol -> protocol.text().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Returns the best that a client has offered; null if this side speaks none of them. */
    @Nullable
    ZwsProtocol best(Collection<String> offered) {
        return spoken.stream()
                .filter(protocol -> offered.contains(protocol.text()))
                .findFirst()
                .orElse(null);
    }

    /** Returns the names for a request, without blanks because libzmq does not expect them. */
    String offer() {
        return names(",");
    }

    /** Returns the names for an error text. */
    String expected() {
        return names(" or ");
    }

    private String names(String between) {
        return spoken.stream().map(ZwsProtocol::text).collect(Collectors.joining(between));
    }
}
