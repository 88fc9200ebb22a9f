package dev.zmtp.attack;

import dev.zmtp.attack.AttackResult.Moment;
import dev.zmtp.attack.AttackResult.Watched;
import dev.zmtp.testing.EventLoops;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;

/**
 * One attack on one server.
 *
 * <p>Beside it runs a twin, a server of the same kind that nobody attacks, with an honest peer of its own. What slows
 * down both is the load of the machine, that of the attackers included, and not what the attack does to its server.
 *
 * @param full whether there are as many attackers as it takes, or only as many as time allows
 * @param duration how long the attack goes on when all attackers are there
 */
record AttackRun(Library library, Attack attack, boolean full, Duration duration) {

    /** How long the attackers may take to be all there. */
    private static final Duration MOUNTING = Duration.ofSeconds(5);

    private static final Duration RECOVERED = Duration.ofMillis(500);

    /** How long the server may take to get rid of what the attack left. */
    private static final Duration SETTLING = Duration.ofSeconds(10);

    /** Runs it. */
    AttackResult run() throws IOException, InterruptedException, ExecutionException {
        try (ServerProcess server = new ServerProcess(library, attack.service());
                ServerProcess twin = new ServerProcess(library, attack.service());
                EventLoops loops = new EventLoops(2);
                Attackers attackers = new Attackers(server.address())) {
            attack.plan(attackers, attack.count(full));
            HonestPeer honest = new HonestPeer(loops.group().next(), server.address(), attack.service());
            HonestPeer ofTwin = new HonestPeer(loops.group().next(), twin.address(), attack.service());
            watch(honest, ofTwin, undisturbed());
            Moment before = moment(server);
            watch(honest, ofTwin, Duration.ZERO);
            Watched usual = watch(honest, ofTwin, undisturbed());

            Newcomers newcomers = new Newcomers(loops.group().next(), server.address(), attack.service());
            attackers.start(MOUNTING);
            Watched attacked = watch(honest, ofTwin, duration);
            Newcomers.Tally tally = newcomers.finish();
            long resident = server.resident();
            Attackers.Count count = attackers.stop();

            Moment after = settled(server, before);
            watch(honest, ofTwin, Duration.ZERO);
            Watched recovered = watch(honest, ofTwin, RECOVERED);
            boolean isConnected = honest.isConnected();
            return new AttackResult(
                    attack, before, after, usual, attacked, recovered, isConnected, tally, count, resident);
        }
    }

    /** How long the servers warm up, and how long the time is that the attack is compared with. */
    private Duration undisturbed() {
        return duration.dividedBy(3);
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
