package dev.zmtp.attack;

import dev.zmtp.attack.AttackResult.Moment;
import dev.zmtp.attack.AttackResult.Watched;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * One attack on one server.
 *
 * <p>Beside it runs a twin, a server of the same kind that nobody attacks, with an honest peer of its own. What slows
 * down both is the load of the machine, that of the attackers included, and not what the attack does to its server.
 *
 * @param full whether there are as many attackers as it takes, or only as many as time allows
 * @param duration how long the attack goes on when all attackers are there
 * @param options options of the servers' JVM
 */
record AttackRun(Library library, Attack attack, boolean full, Duration duration, List<String> options) {

    /** Honest peers that come and go at each server before a full attack. */
    private static final int VISITORS = 2_000;

    /** How long the attackers may take to be all there. */
    private static final Duration MOUNTING = Duration.ofSeconds(5);

    /** How long an honest peer may wait for its first messages. */
    private static final Duration WARMING_UP = Duration.ofSeconds(20);

    private static final Duration RECOVERED = Duration.ofMillis(500);

    /** How long the server may take to get rid of what the attack left. */
    private static final Duration SETTLING = Duration.ofSeconds(10);

    /** Runs it. */
    AttackResult run() throws IOException, InterruptedException, ExecutionException {
        try (ServerProcess server = new ServerProcess(library, attack.service(), options);
                ServerProcess twin = new ServerProcess(library, attack.service(), options);
                EventLoops loops = new EventLoops(2)) {
            return run(server, twin, loops.group());
        }
    }

    private AttackResult run(ServerProcess server, ServerProcess twin, EventLoopGroup loops)
            throws IOException, InterruptedException, ExecutionException {
        InetSocketAddress address = server.awaitAddress();
        InetSocketAddress addressOfTwin = twin.awaitAddress();
        HonestPeer honest = new HonestPeer(loops.next(), address, attack.service());
        HonestPeer ofTwin = new HonestPeer(loops.next(), addressOfTwin, attack.service());
        try (Attackers attackers = new Attackers(address)) {
            attack.plan(attackers, attack.count(full));
            if (full) {
                Visitors visitors = new Visitors(loops.next(), address, attack.service(), VISITORS);
                new Visitors(loops.next(), addressOfTwin, attack.service(), VISITORS).await();
                visitors.await();
            }
            warmUp(honest, ofTwin);
            Moment before = moment(server);
            watch(honest, ofTwin, Duration.ZERO);
            Watched usual = watch(honest, ofTwin, undisturbed());

            Newcomers newcomers = new Newcomers(loops.next(), address, attack.service());
            attackers.start(MOUNTING);
            Watched attacked = watch(honest, ofTwin, duration);
            Newcomers.Tally tally = newcomers.finish();
            Moment during = moment(server);
            Attackers.Count count = attackers.stop();

            Moment after = settled(server, before);
            watch(honest, ofTwin, Duration.ZERO);
            Watched recovered = watch(honest, ofTwin, RECOVERED);
            boolean isConnected = honest.isConnected();
            return new AttackResult(
                    attack, before, during, after, usual, attacked, recovered, isConnected, tally, count);
        }
    }

    /** How long the servers warm up, and how long the time is that the attack is compared with. */
    private Duration undisturbed() {
        return duration.dividedBy(3);
    }

    /** On a busy machine the first messages take a while. */
    private void warmUp(HonestPeer honest, HonestPeer ofTwin) throws InterruptedException, ExecutionException {
        long end = System.nanoTime() + WARMING_UP.toNanos();
        Watched seen;
        do {
            seen = watch(honest, ofTwin, undisturbed());
        } while (Math.min(seen.honest().perSecond(), seen.ofTwin().perSecond()) == 0 && System.nanoTime() < end);
    }

    private static Watched watch(HonestPeer honest, HonestPeer ofTwin, Duration time)
            throws InterruptedException, ExecutionException {
        Thread.sleep(time.toMillis());
        return new Watched(honest.take(), ofTwin.take());
    }

    private static Moment moment(ServerProcess server) throws InterruptedException {
        return new Moment(server.report(), server.sockets(), server.resident());
    }

    private static Moment settled(ServerProcess server, Moment before) throws InterruptedException {
        long end = System.nanoTime() + SETTLING.toNanos();
        Moment now = moment(server);
        while (!AttackResult.isSettled(before, now) && server.isAlive() && System.nanoTime() < end) {
            Thread.sleep(100);
            now = moment(server);
        }
        return now;
    }
}
