package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Frames of all sizes and messages of all lengths, to and from another implementation. */
class FramesIT {

    private static final int[] SIZES = {0, 1, 255, 256, 64 << 10, 16 << 20};
    private static final int[] COUNTS = {1, 2, 10, 100};

    /** Frames in a message of several take turns in these sizes. */
    private static final int[] MIXED = {255, 0, 64 << 10, 1, 256};

    private static final int MANY = 10_000;

    static List<Arguments> everySizeAndCount() {
        List<Arguments> all = new ArrayList<>();
        for (PeerKind kind : PeerKind.values()) {
            for (Binder binder : Binder.values()) {
                for (int size : SIZES) {
                    all.add(Arguments.of(kind, binder, 1, new int[] {size}));
                }
                for (int count : COUNTS) {
                    all.add(Arguments.of(kind, binder, count, MIXED));
                }
                all.add(Arguments.of(kind, binder, 2, new int[] {16 << 20}));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}, {1} bind, {2} frames of {3} bytes")
    @MethodSource("everySizeAndCount")
    void aMessageOfAnyShapeIsSentAndEchoed(PeerKind kind, Binder binder, int frames, int[] sizes) {
        int[] lengths = new int[frames];
        for (int i = 0; i < frames; i++) {
            lengths[i] = sizes[i % sizes.length];
        }
        ZMTPMessage message = Messages.ofLengths(lengths);
        try (InteropConnection link =
                InteropConnection.of(kind, binder, ZMTPSocketType.DEALER, ZMTPSocketType.DEALER)) {
            link.ours().handshake();

            link.ours().write(message);
            assertThat(link.theirs().receive()).isEqualTo(message);
            link.theirs().send(message);
            assertThat(link.ours().message()).isEqualTo(message);
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyOfOurMessagesArriveInOrder(PeerKind kind) {

        try (InteropConnection link = InteropConnection.of(kind, Binder.WE, ZMTPSocketType.PUSH, ZMTPSocketType.PULL)) {
            link.ours().handshake();
            for (int i = 0; i < MANY; i++) {
                link.ours().write(Messages.of("message", "" + i));
            }
            for (int i = 0; i < MANY; i++) {
                assertThat(link.theirs().receive()).isEqualTo(Messages.of("message", "" + i));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyOfTheirMessagesArriveInOrder(PeerKind kind) {
        try (InteropConnection link =
                InteropConnection.of(kind, Binder.THEY, ZMTPSocketType.PULL, ZMTPSocketType.PUSH)) {
            link.ours().handshake();
            for (int i = 0; i < MANY; i++) {
                link.theirs().send(Messages.of("message", "" + i));
            }
            for (int i = 0; i < MANY; i++) {
                assertThat(link.ours().message()).isEqualTo(Messages.of("message", "" + i));
            }
        }
    }
}
