package dev.zmtp.attack;

import static dev.zmtp.attack.Service.CURVE_ECHO;
import static dev.zmtp.attack.Service.ECHO;
import static dev.zmtp.attack.Service.ECHO_WITHOUT_BACK_PRESSURE;
import static dev.zmtp.attack.Service.IDLE_PULL;
import static dev.zmtp.attack.Service.LATER_REP;
import static dev.zmtp.attack.Service.PUB;
import static dev.zmtp.attack.Service.PUBLISHER;
import static dev.zmtp.attack.Service.PULL;
import static dev.zmtp.attack.Service.REP;
import static dev.zmtp.attack.Service.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;

import dev.zmtp.attack.Behavior.Ending;
import dev.zmtp.security.CurveForge;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** An attack, by peers that need no right to make it. */
enum Attack {
    UNFINISHED_FRAMES(
            "%,d peers with 60,000 bytes of an unfinished frame",
            List.of(ECHO, ROUTER), Goal.THROUGHPUT, 2_000, 2_000) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] frame = Hex.bytes("02 00*5 10 00*2 61*60000");
            attackers.add(count, i -> i / PER_ADDRESS, dealer().sending(frame));
        }
    },
    UNFINISHED_MESSAGES(
            "%,d peers with 1,023 frames of an unfinished message", List.of(ECHO, ROUTER), Goal.THROUGHPUT, 500, 500) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] frames = Hex.bytes("01 01 61 ".repeat(1_023));
            attackers.add(count, i -> i / PER_ADDRESS, dealer().sending(frames));
        }
    },
    /** They are refused, and return at once. */
    METADATA("%,d peers with a property of 64,000 bytes", List.of(ECHO), Goal.LATENCY, 1_000, 1_000) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> i / PER_ADDRESS, announcing(64_000));
        }
    },
    LIMITED_METADATA("%,d idle peers with a property of 8,000 bytes", List.of(ECHO), Goal.THROUGHPUT, 1_000, 1_000) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> i / PER_ADDRESS, announcing(8_000));
        }
    },
    LONG_TOPICS("%,d subscribers with 10,000 topics of 240 bytes", List.of(PUBLISHER, PUB), Goal.THROUGHPUT, 20, 20) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, subscriber().sending(topics(0, 10_000, 240)));
        }
    },
    NEVER_READING(
            "%,d peers that ask and never read",
            List.of(ECHO, ECHO_WITHOUT_BACK_PRESSURE, ROUTER), Goal.THROUGHPUT, 4, 4) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, neverReading());
        }
    },
    HALF_OPEN(
            "%,d connections without a handshake, 60 for each address", List.of(ECHO), Goal.NEWCOMERS, 2_000, 10_000) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> i / 60, Behavior.startingWith());
        }
    },
    HALF_OPEN_FROM_ONE_ADDRESS(
            "%,d connections without a handshake from the newcomers' address",
            List.of(ECHO, ROUTER), Goal.NEWCOMERS, 64, 64) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> OWN_ADDRESS, Behavior.startingWith());
        }
    },
    EMPTY_MESSAGES("empty messages as fast as they go on %,d connections", List.of(ECHO, ROUTER), Goal.LATENCY, 4, 4) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, flood("00 00 "));
        }
    },
    PINGS("PINGs of 16 bytes as fast as they go on %,d connections", List.of(ECHO, ROUTER), Goal.LATENCY, 4, 4) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, flood("04 17 04 \"PING\" 00*2 61*16 "));
        }
    },
    UNPUBLISHED_TOPICS(
            "%,d subscribers with 9,999 topics that nobody publishes",
            List.of(PUBLISHER, PUB), Goal.THROUGHPUT, 50, 50) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, subscriber().sending(topics(0, 9_999, 12)));
        }
    },
    MUTE_SUBSCRIBERS("%,d subscribers that never read", List.of(PUBLISHER, PUB), Goal.THROUGHPUT, 500, 1_000) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] everything = Hex.bytes("04 0a 09 \"SUBSCRIBE\"");
            attackers.add(
                    count,
                    i -> i / PER_ADDRESS,
                    subscriber().sending(everything).neverReading());
        }
    },
    HELLOS(
            "CURVE handshakes up to WELCOME as fast as they go on %,d connections",
            List.of(CURVE_ECHO), Goal.LATENCY, 64, 64) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] hello = concat(Hex.bytes(SIGNATURE + "03 01 \"CURVE\" 00*15 00*32"), new CurveForge().hello());
            attackers.returnsPerSecond(Integer.MAX_VALUE);
            attackers.add(count, i -> i % 8, Behavior.startingWith(hello).leaving(Ending.RESET, 64 + 170));
        }
    },
    IDLE("%,d idle peers", List.of(ECHO, ROUTER), Goal.THROUGHPUT, 2_000, 8_000) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> i / PER_ADDRESS, dealer());
        }
    },
    CUTS("FIN, half close and RST after each of %,d bytes", List.of(ECHO, ROUTER), Goal.LATENCY, 210, 210) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] handshake = Hex.bytes(handshake("DEALER"));
            byte[] message = Hex.bytes("00 ff 61*255");
            for (int length = 1; length <= count; length++) {
                Behavior part = Behavior.startingWith(Arrays.copyOf(handshake, Math.min(length, handshake.length)))
                        .sending(Arrays.copyOf(message, Math.max(length - handshake.length, 0)));
                attackers.add(1, i -> 0, part.leaving(Ending.CLOSE, 0));
                attackers.add(1, i -> 1, part.leaving(Ending.HALF_CLOSE, 0));
                attackers.add(1, i -> 2, part.leaving(Ending.RESET, 0));
            }
        }
    },
    STORM(
            "%,d connections each second that leave after the handshake",
            List.of(ECHO, ROUTER), Goal.LATENCY, 2_000, 2_000) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.returnsPerSecond(count);
            attackers.add(60, i -> i % 4, dealer().leaving(Ending.RESET, 65));
        }
    },
    /** The names of a thousand ROUTERs on the way, which cost far more than their bytes. */
    HOPS(
            "requests of 1,002 frames, whose answers are not read, on %,d connection",
            List.of(ROUTER, REP), Goal.LATENCY, 1, 1) {
        @Override
        void plan(Attackers attackers, int count) {
            String request = "01 01 61 ".repeat(1_000) + request(1);
            attackers.add(count, i -> 0, dealer().repeating(batch(request)).neverReading());
        }
    },
    /** Nobody attacks: a market opens. */
    BURST("%,d peers that ask for 60 KB at once, and read them", List.of(ROUTER), Goal.LATENCY, 500, 3_000) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] messages = Hex.bytes(message(1_000).repeat(60));
            attackers.add(
                    count, i -> i / PER_ADDRESS, dealer().sending(messages).together());
        }
    },
    FULL_QUEUES("%,d peers that ask with 16,000 bytes and never read", List.of(ROUTER, REP), Goal.LATENCY, 30, 30) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(
                    count, i -> 0, dealer().repeating(batch(request(16_000))).neverReading());
        }
    },
    LARGE_ANSWERS("%,d peers that never read answers of 1 MB", List.of(REP), Goal.LATENCY, 3, 3) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(
                    count,
                    i -> 0,
                    dealer().repeating(batch(request(Service.ASKS_FOR_A_MEGABYTE)))
                            .neverReading());
        }
    },
    REQUESTS("requests of 20 bytes as fast as they go on %,d connection", List.of(LATER_REP), Goal.LATENCY, 1, 1) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, dealer().repeating(batch(request(20))));
        }
    },
    PUSHES(
            "messages of 16,000 bytes as fast as they go on %,d connections",
            List.of(PULL, IDLE_PULL), Goal.LATENCY, 4, 4) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(count, i -> 0, pusher().repeating(batch(message(16_000))));
        }
    },
    /** Each would keep the whole buffer that it was read into. */
    SMALL_PUSHES(
            "a message of 1,100 bytes each few milliseconds on %,d connections",
            List.of(IDLE_PULL), Goal.THROUGHPUT, 4, 4) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.add(
                    count, i -> 0, pusher().repeating(Hex.bytes(message(1_100))).pausing());
        }
    },
    READING_SUBSCRIBERS("%,d subscribers that read everything", List.of(PUB), Goal.NEWCOMERS, 200, 1_500) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] ticks = Hex.bytes("04 0e 09 \"SUBSCRIBE\" \"%s\"".formatted(Ticks.TOPIC));
            attackers.add(count, i -> i / PER_ADDRESS, subscriber().sending(ticks));
        }
    },
    /** Those that are refused leave less room than a large one needs, which small ones then take. */
    FILLED_TOPICS(
            "%,d subscribers and 250 smaller ones that fill the memory for topics",
            List.of(PUB), Goal.THROUGHPUT, 12, 12) {
        @Override
        void plan(Attackers attackers, int count) {
            fill(attackers, count, 0, 9_000, 100);
            fill(attackers, 50, 200_000, 100, 100);
            fill(attackers, 200, 300_000, 1, 20);
        }

        private static void fill(Attackers attackers, int count, int first, int topics, int length) {
            for (int i = 0; i < count; i++) {
                int host = i / PER_ADDRESS;
                attackers.add(1, one -> host, subscriber().sending(topics(first + i * topics, topics, length)));
            }
        }
    },
    RESTARTS(
            "%,d peers that ask once, leave with the answer and return at once",
            List.of(ROUTER), Goal.LATENCY, 50, 50) {
        @Override
        void plan(Attackers attackers, int count) {
            attackers.returnsPerSecond(Integer.MAX_VALUE);
            byte[] message = Hex.bytes(message(100));
            attackers.add(
                    count, i -> i % 4, dealer().sending(message).leaving(Ending.CLOSE, AFTER_READY + message.length));
        }
    },
    IDLE_AFTER_A_MESSAGE(
            "%,d idle peers that have not read an answer", List.of(ROUTER), Goal.THROUGHPUT, 1_000, 5_000) {
        @Override
        void plan(Attackers attackers, int count) {
            byte[] message = Hex.bytes(message(100));
            attackers.add(count, i -> i / PER_ADDRESS, dealer().sending(message).neverReading());
        }
    };

    /** The peers of one address, so few that limits for each address do not stop them. */
    private static final int PER_ADDRESS = 40;

    /** The number of 127.0.0.1 among the addresses of the attackers, which begin at 127.0.1.1. */
    private static final int OWN_ADDRESS = -250;

    private static final int BATCH = 1 << 15;

    /** More than a ROUTER's greeting and READY, and less than these and a message. */
    private static final int AFTER_READY = 64 + 30;

    /** What an attack must not change. */
    enum Goal {
        /** How much the server does for an honest peer. */
        THROUGHPUT,
        /** How soon it does it; an attacker that is served, too, leaves less for others. */
        LATENCY,
        /** That newcomers are served, which all attacks must not change. */
        NEWCOMERS
    }

    private final String title;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<Service> services;

    private final Goal goal;
    private final int fewer;
    private final int count;

    Attack(String title, List<Service> services, Goal goal, int fewer, int count) {
        this.title = title;
        this.services = services;
        this.goal = goal;
        this.fewer = fewer;
        this.count = count;
    }

    /** Tells the attackers what to do. */
    abstract void plan(Attackers attackers, int count);

    /** The number of attackers, or what else there are many of. */
    int count(boolean full) {
        return full ? count : fewer;
    }

    /** What is done, in a few words. */
    String title(boolean full) {
        return String.format(Locale.ROOT, title, count(full));
    }

    /** The servers that it is made on. */
    List<Service> services() {
        return services;
    }

    Goal goal() {
        return goal;
    }

    private static Behavior dealer() {
        return Behavior.startingWith(Hex.bytes(handshake("DEALER")));
    }

    private static Behavior announcing(int bytes) {
        byte[] body = Hex.bytes(
                "05 \"READY\" 0b \"Socket-Type\" 00*3 06 \"DEALER\" 01 \"X\" %08x 61*%d".formatted(bytes, bytes));
        return Behavior.startingWith(concat(Hex.bytes(GREETING + "06 %016x".formatted(body.length)), body));
    }

    private static Behavior subscriber() {
        return Behavior.startingWith(Hex.bytes(handshake("SUB")));
    }

    private static Behavior pusher() {
        return Behavior.startingWith(Hex.bytes(handshake("PUSH")));
    }

    private static String handshake(String type) {
        return GREETING + ScriptedPeer.ready(type);
    }

    private static Behavior neverReading() {
        String request = "00 c8 61*200 ";
        return dealer().repeating(batch(request)).neverReading();
    }

    private static String message(int length) {
        return (length < 256 ? "00 %02x " : "02 %016x ").formatted(length) + "61*%d ".formatted(length);
    }

    /** A message after a delimiter, as a REP wants it. */
    private static String request(int length) {
        return "01 00 " + message(length);
    }

    private static Behavior flood(String frame) {
        return dealer().repeating(batch(frame));
    }

    private static byte[] batch(String frame) {
        return Hex.bytes(frame.repeat(BATCH / Hex.bytes(frame).length));
    }

    private static byte[] topics(int first, int topics, int length) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] command = Hex.bytes("04 %02x 09 \"SUBSCRIBE\" 61*%d".formatted(10 + length, length));
        for (int i = first; i < first + topics; i++) {
            byte[] number = Hex.bytes("\"%06d\"".formatted(i));
            System.arraycopy(number, 0, command, command.length - number.length, number.length);
            out.writeBytes(command);
        }
        return out.toByteArray();
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
