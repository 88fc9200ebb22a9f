package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlanTest {

    private static final int MANY = 2_000;

    @Test
    void theSameSeedGivesTheSamePlan() {
        assertThat(Plan.draw(7, 3, 5, Implementation.JEROMQ)).isEqualTo(Plan.draw(7, 3, 5, Implementation.JEROMQ));
    }

    @Test
    void everyLinkOfEverySeedHasItsOwnPlan() {
        Plan plan = Plan.draw(7, 3, 5, Implementation.JEROMQ);

        assertThat(List.of(
                        Plan.draw(8, 3, 5, Implementation.JEROMQ),
                        Plan.draw(7, 4, 5, Implementation.JEROMQ),
                        Plan.draw(7, 3, 6, Implementation.JEROMQ)))
                .doesNotHaveDuplicates()
                .doesNotContain(plan);
    }

    @Test
    void everyFaultIsPlannedSometimes() {
        Set<ProxyFault.Kind> proxy = EnumSet.noneOf(ProxyFault.Kind.class);
        Set<EndFault.Kind> ends = EnumSet.noneOf(EndFault.Kind.class);
        for (int turn = 0; turn < MANY; turn++) {
            Plan plan = Plan.draw(1, 0, turn, Implementation.LIBZMQ);
            plan.proxy().forEach(faults -> faults.forEach(fault -> proxy.add(fault.kind())));
            ends.add(plan.server().kind());
            ends.add(plan.peer().kind());
        }

        assertThat(proxy).containsExactlyInAnyOrder(ProxyFault.Kind.values());
        assertThat(ends).containsExactlyInAnyOrder(EndFault.Kind.values());
    }

    @Test
    void manyFaultsComeDuringTheHandshake() {
        long early = IntStream.range(0, MANY)
                .mapToObj(turn -> Plan.draw(1, 0, turn, Implementation.NETTY_ZMTP))
                .flatMap(plan -> plan.faults(0).stream())
                .filter(fault -> fault.at() < 64) // bytes of a greeting
                .count();

        assertThat(early).isBetween(MANY / 20L, MANY * 1L);
    }

    @Test
    void sharedMemoryIsBrokenByItsEnds() {
        List<Plan> plans = IntStream.range(0, MANY)
                .mapToObj(turn -> Plan.draw(1, 0, turn, Implementation.SHARED_MEMORY))
                .toList();

        assertThat(plans).allSatisfy(plan -> assertThat(plan.proxy()).isEmpty());
        assertThat(plans.stream().filter(Plan::isBreaking).count()).isBetween(MANY / 3L, MANY * 2L / 3);
    }

    @Test
    void laterConnectionsThanPlannedHaveNoFaults() {
        assertThat(Plan.draw(1, 0, 0, Implementation.LIBZMQ).faults(3)).isEmpty();
    }
}
