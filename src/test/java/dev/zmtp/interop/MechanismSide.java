package dev.zmtp.interop;

import dev.zmtp.codec.ZMTPConfig;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A mechanism and a side of it. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas without state
enum MechanismSide {
    NULL("NULL", config -> config, socket -> {}),
    PLAIN_CLIENT("PLAIN", Security.PLAIN::client, Security.PLAIN::client),
    PLAIN_SERVER(Security.PLAIN),
    CURVE_CLIENT("CURVE", Security.CURVE::client, Security.CURVE::client),
    CURVE_SERVER(Security.CURVE);

    private final String mechanism;
    private final UnaryOperator<ZMTPConfig.Builder> ours;
    private final Consumer<PeerSocket> theirs;

    MechanismSide(String mechanism, UnaryOperator<ZMTPConfig.Builder> ours, Consumer<PeerSocket> theirs) {
        this.mechanism = mechanism;
        this.ours = ours;
        this.theirs = theirs;
    }

    MechanismSide(Security server) {
        this(
                server.name(),
                config -> server.server(config, server.authenticator()),
                socket -> SecurityIT.theirServer(socket, server));
    }

    /** The name of the mechanism. */
    String mechanism() {
        return mechanism;
    }

    ZMTPConfig.Builder apply(ZMTPConfig.Builder config) {
        return ours.apply(config);
    }

    void apply(PeerSocket socket) {
        theirs.accept(socket);
    }
}
