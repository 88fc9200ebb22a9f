package dev.zmtp.fuzz;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;

/**
 * Connections that share a memory budget, and peers that send any parts of messages in any order. The count is never
 * negative, within the limit whenever the event loop is idle, and zero when all connections have ended.
 */
public final class BudgetFuzz {

    private static final int CONNECTIONS = 4;

    private BudgetFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(input.number(20_000, 1, 200, 5000, 100_000));
        int frames = input.number(1024, 1, 3);
        ZMTPSocketType type = input.of(ZMTPSocketType.DEALER, ZMTPSocketType.XPUB, ZMTPSocketType.PUSH);
        ScriptedPeer[] peers = new ScriptedPeer[CONNECTIONS];
        try {
            while (!input.isEmpty()) {
                int i = input.choice(CONNECTIONS);
                ScriptedPeer peer = peers[i];
                if (peer == null || !peer.channel.isOpen()) {
                    close(peer);
                    peers[i] = InTraffic.as(type)
                            .set(codec -> codec.memoryBudget(budget).maxFramesPerRead(frames))
                            .start();
                } else {
                    act(peer, input);
                }
                check(budget, peers);
            }
        } finally {
            for (ScriptedPeer peer : peers) {
                close(peer);
            }
        }
        FuzzFailure.unlessEqual(budget.used(), 0L, "kept by no connection");
    }

    private static void act(ScriptedPeer peer, Input input) {
        int count = 1 + input.oneByte();
        switch (input.choice(9)) {
            case 0 -> peer.send("01 01 61 ".repeat(count));
            case 1 -> peer.send("00 01 61 ".repeat(count));
            case 2 -> peer.send("02 00*4 %08x ".formatted(count << 8) + "00*" + count);
            case 3 -> peer.send("03 00*4 %08x ".formatted(count << 8) + "00*" + count);
            case 4 -> peer.send("00*" + (count << 6));
            case 5 -> peer.send("00 05 01 " + "%08x".formatted(count));
            case 6 -> peer.send(input.bytes(count));
            case 7 -> peer.channel.config().setAutoRead(count % 2 == 0);
            default -> peer.channel.close();
        }
    }

    private static void check(ZMTPMemoryBudget budget, ScriptedPeer... peers) {
        for (ScriptedPeer peer : peers) {
            if (peer != null) {
                peer.channel.runPendingTasks();
            }
        }
        FuzzFailure.unless(budget.used() >= 0 && budget.used() <= budget.limit(), "kept", budget);
    }

    private static void close(ScriptedPeer peer) {
        if (peer != null) {
            peer.close();
        }
    }
}
