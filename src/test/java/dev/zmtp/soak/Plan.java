package dev.zmtp.soak;

import dev.zmtp.ZMTPVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * What is to happen on one link, drawn from the seed alone: the same seed, slot and turn give the same plan.
 *
 * @param kind the implementation of the peer
 * @param pattern the types of both
 * @param version the highest version that the peer speaks, if it is ours
 * @param up how many messages the peer sends
 * @param down how many messages the server sends on each connection
 * @param flush when the codec's ends flush
 * @param kept how many received messages the codec's ends keep for a while before they look at them
 * @param early how many messages our peer writes before the handshake
 * @param proxy what the proxy does to the first connection, the second, and so on; nothing to later ones
 * @param server what the server does to its first connection
 * @param peer what the peer does
 */
record Plan(
        Implementation kind,
        Pattern pattern,
        ZMTPVersion version,
        int up,
        int down,
        Flush flush,
        int kept,
        int early,
        List<List<ProxyFault>> proxy,
        EndFault server,
        EndFault peer) {

    /** When an end flushes what it wrote. */
    enum Flush {
        /** After each message. */
        EACH,
        /** After some. */
        SOME,
        /** When a {@code BatchFlusher} does. */
        BATCH_FLUSHER
    }

    private static final int MAX_MESSAGES = 3_000;

    /** Draws the plan of a link of {@code kind}. */
    static Plan draw(long seed, int slot, int turn, Implementation kind) {
        Random random = random(seed, slot, turn);
        Pattern pattern = any(Pattern.values(), random);
        ZMTPVersion version = any(ZMTPVersion.values(), random);
        int up = messages(random);
        int down = messages(random);
        Flush flush = any(Flush.values(), random);
        int kept = random.nextInt(8);
        int early = random.nextBoolean() ? 0 : random.nextInt(20);
        int dice = random.nextInt(100);
        boolean gentle = dice >= 20;
        boolean breaking = dice >= 50;
        EndFault server = gentle && random.nextInt(4) == 0 ? EndFault.pause(random) : EndFault.NONE;
        EndFault peer = gentle && random.nextInt(4) == 0 ? EndFault.pause(random) : EndFault.NONE;
        boolean byProxy = true;
        if (breaking && (!kind.hasSocket() || random.nextInt(3) == 0)) {
            byProxy = false;
            if (random.nextBoolean()) {
                server = EndFault.breaking(random);
            } else {
                peer = EndFault.breaking(random);
            }
        }
        List<List<ProxyFault>> proxy = new ArrayList<>();
        int connections = kind.isOurs() ? 1 : 1 + random.nextInt(3);
        for (int i = 0; i < connections && kind.hasSocket(); i++) {
            List<ProxyFault> faults = new ArrayList<>();
            for (int n = gentle ? random.nextInt(3) : 0; n > 0; n--) {
                faults.add(ProxyFault.gentle(random));
            }
            if (breaking && byProxy) {
                faults.add(ProxyFault.breaking(random));
            }
            proxy.add(List.copyOf(faults));
        }
        return new Plan(kind, pattern, version, up, down, flush, kept, early, List.copyOf(proxy), server, peer);
    }

    private static <T> T any(T[] values, Random random) {
        return values[random.nextInt(values.length)];
    }

    /** The random numbers of one link. */
    static Random random(long seed, int slot, int turn) {
        // Neighbouring seeds of a Random begin alike.
        return new Random(new SplittableRandom(seed * 1_000_003 + slot * 100_003L + turn).nextLong());
    }

    /** As likely less than fifty as more. */
    private static int messages(Random random) {
        return (int) Math.exp(random.nextDouble() * Math.log(MAX_MESSAGES));
    }

    /** The same for another pattern. */
    Plan with(Pattern other) {
        return new Plan(kind, other, version, up, down, flush, kept, early, proxy, server, peer);
    }

    /** The same with a server that breaks no connection. */
    Plan withGentleServer() {
        EndFault gentle = server.kind() == EndFault.Kind.PAUSE ? server : EndFault.NONE;
        return new Plan(kind, pattern, version, up, down, flush, kept, early, proxy, gentle, peer);
    }

    /** Whether messages may be lost. */
    boolean isBreaking() {
        return server.isBreaking()
                || peer.isBreaking()
                || proxy.stream()
                        .flatMap(List::stream)
                        .anyMatch(fault -> fault.kind().isBreaking());
    }

    /** What the proxy does to the connection of this number, from 0. */
    List<ProxyFault> faults(int connection) {
        return connection < proxy.size() ? proxy.get(connection) : List.of();
    }
}
