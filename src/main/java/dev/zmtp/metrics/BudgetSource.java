package dev.zmtp.metrics;

import dev.zmtp.codec.ZMTPMemoryBudget;
import io.micrometer.core.instrument.Tags;

/** The meters of a memory budget. */
final class BudgetSource implements Source {

    private final ZMTPMemoryBudget budget;

    BudgetSource(ZMTPMemoryBudget budget) {
        this.budget = budget;
    }

    @Override
    public String tag() {
        return "budget";
    }

    @Override
    public String meter() {
        return "zmtp.memory.used";
    }

    @Override
    public void register(Meters meters) {
        meters.gauge(meter(), "bytes", Tags.empty(), budget, ZMTPMemoryBudget::used);
        meters.gauge("zmtp.memory.limit", "bytes", Tags.empty(), budget, ZMTPMemoryBudget::limit);
        meters.counter("zmtp.memory.ended", "connections", Tags.empty(), budget, ZMTPMemoryBudget::endedConnections);
    }
}
