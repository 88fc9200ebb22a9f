package dev.zmtp.compare.peer;

import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Two publishers, a proxy and a subscriber of JeroMQ in one process, each on a thread of its own. Nobody drops anything. */
final class JeroMqProxy {

    private static final String FRONT = "inproc://front";
    private static final String BACK = "inproc://back";
    private static final int PUBLISHERS = 2;

    private final JeroMq jeroMq;
    private final Program program;
    private final ZContext context;

    JeroMqProxy(JeroMq jeroMq, Program program, ZContext context) {
        this.jeroMq = jeroMq;
        this.program = program;
        this.context = context;
    }

    void start() {
        ZMQ.Socket frontend = context.createSocket(SocketType.XSUB);
        ZMQ.Socket backend = context.createSocket(SocketType.XPUB);
        backend.setXpubNoDrop(true);
        frontend.bind(FRONT);
        backend.bind(BACK);
        jeroMq.thread("proxy", () -> ZMQ.proxy(frontend, backend, null));
        jeroMq.thread("subscriber", this::subscribe);
        for (int i = 0; i < PUBLISHERS; i++) {
            jeroMq.thread("publisher", this::publish);
        }
        program.ready();
    }

    private void subscribe() {
        ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
        subscriber.subscribe(ZMQ.SUBSCRIPTION_ALL);
        subscriber.connect(BACK);
        jeroMq.receive(subscriber, program.messages(true));
    }

    private void publish() {
        ZMQ.Socket publisher = context.createSocket(SocketType.XPUB);
        publisher.setXpubNoDrop(true);
        publisher.connect(FRONT);
        publisher.recv(); // the subscription
        jeroMq.send(publisher, new Counter());
    }
}
