package dev.zmtp.security;

import dev.zmtp.ZMTPVersion;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Factories of mechanisms with a client and a server. A client must not have an authenticator, while a server must have
 * one.
 */
final class MechanismFactories {

    private MechanismFactories() {}

    /** Returns the side that is authenticated, and does not authenticate the peer. */
    static ZMTPMechanism.Factory client(String name, Function<ZMTPMechanism.Context, ZMTPMechanism> constructor) {
        return factory(name, "client", constructor, authenticator -> {
            if (authenticator) {
                throw new IllegalArgumentException(
                        "authenticator: set (expected: none for a " + name + " client, which asks nobody)");
            }
        });
    }

    /** Returns the side that authenticates the peer. */
    static ZMTPMechanism.Factory server(String name, Function<ZMTPMechanism.Context, ZMTPMechanism> constructor) {
        return factory(name, "server", constructor, authenticator -> {
            if (!authenticator) {
                throw new IllegalArgumentException("authenticator: none (expected: one for a " + name
                        + " server, ZMTPAuthenticator.acceptAll() to accept everyone)");
            }
        });
    }

    private static ZMTPMechanism.Factory factory(
            String name,
            String side,
            Function<ZMTPMechanism.Context, ZMTPMechanism> constructor,
            Consumer<Boolean> authenticatorCheck) {
        return new ZMTPMechanism.Factory() {
            @Override
            public ZMTPMechanism create(ZMTPMechanism.Context context) {
                return constructor.apply(context);
            }

            @Override
            public void check(ZMTPVersion protocol, boolean authenticator) {
                if (!protocol.hasCommands()) {
                    throw new IllegalArgumentException(
                            "protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 with " + name + ")");
                }
                authenticatorCheck.accept(authenticator);
            }

            @Override
            public String toString() {
                return name + " " + side;
            }
        };
    }
}
