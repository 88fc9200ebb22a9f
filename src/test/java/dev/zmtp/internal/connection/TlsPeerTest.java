package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.security.cert.Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.Test;

/** What TLS knows about a peer. */
class TlsPeerTest {

    private final SSLSession session = mock(SSLSession.class);
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private void addTls() {
        SSLEngine engine = mock(SSLEngine.class);
        when(engine.getSession()).thenReturn(session);
        channel.pipeline().addLast(new SslHandler(engine));
    }

    @Test
    void theWholeChainOfCertificatesIsReported() throws Exception {
        Certificate own = mock(Certificate.class);
        Certificate issuer = mock(Certificate.class);
        when(session.getPeerCertificates()).thenReturn(new Certificate[] {own, issuer});
        addTls();
        assertThat(TlsPeer.certificates(channel.pipeline())).containsExactly(own, issuer);
    }

    @Test
    void aPeerThatIsNotAuthenticatedHasNoCertificates() throws Exception {
        when(session.getPeerCertificates()).thenThrow(new SSLPeerUnverifiedException("none"));
        addTls();
        assertThat(TlsPeer.certificates(channel.pipeline())).isEmpty();
    }

    @Test
    void withoutTlsThereAreNoCertificates() {
        assertThat(TlsPeer.certificates(channel.pipeline())).isEmpty();
    }

    @Test
    void onlyAReceivedCloseNotifyIsOne() {
        assertThat(TlsPeer.isCloseNotify(SslCloseCompletionEvent.SUCCESS)).isTrue();
        assertThat(TlsPeer.isCloseNotify(new SslCloseCompletionEvent(new ClosedChannelException())))
                .isFalse();
        assertThat(TlsPeer.isCloseNotify("another event")).isFalse();
    }
}
