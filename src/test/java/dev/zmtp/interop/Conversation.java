package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What two sockets of the classic types say to each other. */
final class Conversation {

    /** What subscribers ask for. */
    static final String TOPIC = "news";

    private static final ZMTPMessage NEWS = Messages.of("news of today", "body");
    private static final ZMTPMessage QUESTION = Messages.of("how", "are", "you?");
    private static final ZMTPMessage ANSWER = Messages.of("well");

    private Conversation() {}

    /** Exchanges what sockets of these types do. A SUB has subscribed to {@link #TOPIC}. */
    static void over(
            InteropConnection link, ZMTPSocketType ourType, ZMTPSocketType theirType, @Nullable String ourIdentity) {
        switch (theirType) {
            case PAIR, DEALER -> {
                boolean reply = ourType == ZMTPSocketType.REP;
                theyAskWeAnswer(link, reply ? Messages.delimited(QUESTION) : QUESTION, reply);
            }
            case REQ -> {
                link.theirs().send(QUESTION);
                assertThat(link.ours().message()).isEqualTo(Messages.delimited(QUESTION));
                link.ours().write(Messages.delimited(ANSWER));
                assertThat(link.theirs().receive()).isEqualTo(ANSWER);
            }
            case REP -> {
                link.ours().write(Messages.delimited(QUESTION));
                assertThat(link.theirs().receive()).isEqualTo(QUESTION);
                link.theirs().send(ANSWER);
                assertThat(link.ours().message()).isEqualTo(Messages.delimited(ANSWER));
            }
            case ROUTER -> weAskTheirRouterAnswers(link, ourIdentity);
            case PULL -> weSendTheyReceive(link, QUESTION);
            case PUSH -> theySendWeReceive(link, QUESTION);
            case SUB -> {
                assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(TOPIC));
                weSendTheyReceive(link, NEWS);
            }
            case XSUB -> {
                link.theirs().send(Messages.rawSubscription(true, TOPIC));
                assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(TOPIC));
                weSendTheyReceive(link, NEWS);
            }
            case PUB -> {
                link.ours().write(ZMTPSubscription.subscribe(TOPIC));
                theyPublishUntilWeReceive(link, NEWS);
            }
            case XPUB -> {
                link.ours().write(ZMTPSubscription.subscribe(TOPIC));
                assertThat(link.theirs().receive()).isEqualTo(Messages.rawSubscription(true, TOPIC));
                theySendWeReceive(link, NEWS);
            }
            default -> throw new AssertionError("socket type: " + theirType + " (expected: a classic one)");
        }
    }

    private static void theyAskWeAnswer(InteropConnection link, ZMTPMessage question, boolean delimited) {
        theySendWeReceive(link, question);
        weSendTheyReceive(link, delimited ? Messages.delimited(ANSWER) : ANSWER);
    }

    /** The ROUTER sees our identity, or one that it made, and its answer comes without. */
    private static void weAskTheirRouterAnswers(InteropConnection link, @Nullable String ourIdentity) {
        link.ours().write(QUESTION);
        ZMTPMessage received = link.theirs().receive();
        byte[] identity = Messages.frames(received).get(0);
        if (ourIdentity != null) {
            assertThat(identity).asString(StandardCharsets.UTF_8).isEqualTo(ourIdentity);
        }
        assertThat(received).isEqualTo(Messages.addressed(identity, QUESTION));
        link.theirs().send(Messages.addressed(identity, ANSWER));
        assertThat(link.ours().message()).isEqualTo(ANSWER);
    }

    static void weSendTheyReceive(InteropConnection link, ZMTPMessage message) {
        link.ours().write(message);
        assertThat(link.theirs().receive()).isEqualTo(message);
    }

    static void theySendWeReceive(InteropConnection link, ZMTPMessage message) {
        link.theirs().send(message);
        assertThat(link.ours().message()).isEqualTo(message);
    }

    /** Only a matching message shows that a subscription has reached a PUB. */
    private static void theyPublishUntilWeReceive(InteropConnection link, ZMTPMessage message) {
        long deadline = Patience.deadline();
        Object received = null;
        while (received == null && !Patience.isOver(deadline)) {
            link.theirs().send(message);
            received = link.ours().next(Patience.RETRY);
        }
        assertThat(received).isEqualTo(message);
    }
}
