package dev.zmtp.attack;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Where an attacked server listens.
 *
 * @param attacked what attackers connect to
 * @param other its other socket, or the same if there is none
 */
record ServerAddresses(InetSocketAddress attacked, InetSocketAddress other) {

    static ServerAddresses parse(String ports) {
        String[] words = ports.split(" ", -1);
        return new ServerAddresses(address(words[0]), address(words[words.length - 1]));
    }

    private static InetSocketAddress address(String port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    }

    /** What honest peers connect to. */
    InetSocketAddress honest(Service service) {
        return service.hasAnotherForHonestPeers() ? other : attacked;
    }
}
