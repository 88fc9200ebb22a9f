package dev.zmtp.attack;

import dev.zmtp.attack.AttackResult.Moment;
import dev.zmtp.attack.AttackResult.Watched;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;

/**
 * One attack on one server.
 *
 * @param full whether there are as many attackers as it takes, or only as many as time allows
 * @param duration how long the attack goes on when all attackers are there
 */
record AttackRun(ServerAndTwin servers, Attack attack, boolean full, Duration duration) {

    /** Honest peers that come and go at each server before a full attack. */
    private static final int VISITORS = 2_000;

    /** How long the attackers may take to be all there. */
    private static final Duration MOUNTING = Duration.ofSeconds(5);

    /** How long an honest peer may wait for its first messages. */
    private static final Duration WARMING_UP = Duration.ofSeconds(20);

    /** How long the server may take to get rid of what the attack left. */
    private static final Duration SETTLING = Duration.ofSeconds(10);

    /** Runs it. */
    AttackResult run() throws IOException, InterruptedException, ExecutionException {
        try (EventLoops loops = new EventLoops(2);
                Attackers attackers = new Attackers(servers.address().attacked())) {
            Service service = servers.service();
            HonestPeer honest = new HonestPeer(loops.group().next(), servers.address(), service);
            HonestPeer ofTwin = new HonestPeer(loops.group().next(), servers.addressOfTwin(), service);
            return run(attackers, loops.group(), honest, ofTwin);
        }
    }

    private AttackResult run(Attackers attackers, EventLoopGroup loops, HonestPeer honest, HonestPeer ofTwin)
            throws InterruptedException, ExecutionException {
        attack.plan(attackers, attack.count(full));
        if (full) {
            comeAndGo(loops);
        }
        warmUp(honest, ofTwin);
        Moment before = moment();
        watch(honest, ofTwin, Duration.ZERO);
        Watched usual = watch(honest, ofTwin, undisturbed());

        Service service = servers.service();
        Newcomers newcomers = new Newcomers(loops.next(), servers.address().honest(service), service);
        attackers.start(MOUNTING);
        Watched attacked = watch(honest, ofTwin, duration);
        Newcomers.Tally tally = newcomers.finish();
        Moment during = moment();
        Attackers.Count count = attackers.stop();

        Moment after = settled(before);
        watch(honest, ofTwin, Duration.ZERO);
        Watched recovered = watch(honest, ofTwin, undisturbed());
        boolean isConnected = honest.isConnected();
        return new AttackResult(
                attack, service, before, during, after, usual, attacked, recovered, isConnected, tally, count);
    }

    private void comeAndGo(EventLoopGroup loops) throws InterruptedException {
        Service service = servers.service();
        Visitors visitors = new Visitors(loops.next(), servers.address().honest(service), service, VISITORS);
        new Visitors(loops.next(), servers.addressOfTwin().honest(service), service, VISITORS).await();
        visitors.await();
    }

    /** How long the servers warm up, and how long the times before and after the attack are that it is compared with. */
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

    private Moment moment() throws InterruptedException {
        ServerProcess server = servers.server();
        return new Moment(server.report(), server.sockets(), server.resident());
    }

    private Moment settled(Moment before) throws InterruptedException {
        long end = System.nanoTime() + SETTLING.toNanos();
        Moment now = moment();
        while (!AttackResult.isSettled(servers.service(), before, now)
                && servers.server().isAlive()
                && System.nanoTime() < end) {
            Thread.sleep(100);
            now = moment();
        }
        return now;
    }
}
