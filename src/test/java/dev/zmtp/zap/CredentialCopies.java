package dev.zmtp.zap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.mockito.MockedStatic;
import org.mockito.Mockito;

/** The copies that an authenticator makes of the user name {@code admin} and the password {@code secret}. */
final class CredentialCopies {

    private static final String USER = "admin";
    private static final String PASSWORD = "secret";

    private CredentialCopies() {}

    /** Asks, lets {@code then} happen, and returns the copies of the user name and the password. */
    @SuppressWarnings("try") // the mock is used by being there
    static List<byte[]> of(ZMTPAuthenticator zap, ZMTPAuthRequest request, Runnable then) {
        List<byte[]> copies = new ArrayList<>();
        try (MockedStatic<WipedBuffer> watched = Mockito.mockStatic(WipedBuffer.class, call -> {
            Object returned = call.callRealMethod();
            ((List<?>) returned).forEach(copy -> copies.add(((ByteBuf) copy).array()));
            assertThat(copies)
                    .containsExactly(USER.getBytes(StandardCharsets.UTF_8), PASSWORD.getBytes(StandardCharsets.UTF_8));
            return returned;
        })) {
            zap.authenticate(request);
        }
        assertThat(copies).hasSize(2);
        then.run();
        return copies;
    }

    static void assertWiped(List<byte[]> copies) {
        assertThat(copies).containsExactly(new byte[USER.length()], new byte[PASSWORD.length()]);
    }
}
