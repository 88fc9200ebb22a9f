package dev.zmtp.internal.socket.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.local.LocalAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddressesTest {

    private static final SocketAddress A = new LocalAddress("a");
    private static final SocketAddress B = new LocalAddress("b");
    private static final SocketAddress C = new LocalAddress("c");

    private final Addresses addresses = new Addresses();

    private List<SocketAddress> left() {
        List<SocketAddress> left = new ArrayList<>();
        for (SocketAddress next = addresses.next(); next != null; next = addresses.next()) {
            left.add(next);
        }
        return left;
    }

    private void fail(SocketAddress expected) {
        assertThat(addresses.next()).isEqualTo(expected);
        addresses.failed();
    }

    @Test
    void theyAreTriedInTheirOrder() {
        addresses.begin(List.of(A, B, C));

        assertThat(left()).containsExactly(A, B, C);
        assertThat(addresses.hasNext()).isFalse();
    }

    @Test
    void oneThatHasFailedComesLastTheNextTime() {
        addresses.begin(List.of(A, B, C));
        fail(A);

        addresses.begin(List.of(A, B, C));

        assertThat(left()).containsExactly(B, C, A);
    }

    @Test
    void ofThoseThatHaveFailedTheOneThatFailedLongestAgoComesFirst() {
        addresses.begin(List.of(A, B));
        fail(A);
        fail(B);
        addresses.begin(List.of(A, B));
        fail(A);

        addresses.begin(List.of(A, B));

        assertThat(left()).containsExactly(B, A);
    }

    @Test
    void oneThatWorksAgainHasItsPlaceBackAndNoOtherIsTried() {
        addresses.begin(List.of(A));
        fail(A);
        addresses.begin(List.of(A, B));
        fail(B);
        assertThat(addresses.next()).isEqualTo(A);

        addresses.worked();

        assertThat(addresses.hasNext()).isFalse();
        addresses.begin(List.of(B, A));
        assertThat(left()).containsExactly(A, B);
    }

    @Test
    void oneThatTheNameNoLongerHasIsForgotten() {
        addresses.begin(List.of(A, B));
        fail(A);
        addresses.begin(List.of(B));
        left();

        addresses.begin(List.of(A, B));

        assertThat(left()).containsExactly(A, B);
    }
}
