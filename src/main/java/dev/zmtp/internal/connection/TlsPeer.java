package dev.zmtp.internal.connection;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/** The peer, according to an SslHandler before the codec. Netty's handlers are an optional dependency. */
public final class TlsPeer {

    private static final @Nullable Class<? extends ChannelHandler> TLS = tls();

    private TlsPeer() {}

    private static @Nullable Class<? extends ChannelHandler> tls() {
        try {
            return SslHandler.class;
        } catch (NoClassDefFoundError e) {
            return null;
        }
    }

    /** Returns the certificates of the peer, its own first; empty if it sent none, or there is no TLS. */
    public static List<Certificate> certificates(ChannelPipeline pipeline) {
        return TLS == null ? List.of() : Tls.certificates(pipeline);
    }

    /**
     * Returns whether {@code event} reports a close_notify of the peer, which can arrive long before the end of the
     * socket.
     */
    public static boolean isCloseNotify(Object event) {
        return TLS != null && Tls.isCloseNotify(event);
    }

    /** Loaded only if Netty's handlers are present. */
    private static final class Tls {
        static List<Certificate> certificates(ChannelPipeline pipeline) {
            SslHandler tls = pipeline.get(SslHandler.class);
            if (tls == null) {
                return List.of();
            }
            try {
                return List.of(tls.engine().getSession().getPeerCertificates());
            } catch (SSLPeerUnverifiedException e) {
                return List.of();
            }
        }

        static boolean isCloseNotify(Object event) {
            return event instanceof SslCloseCompletionEvent end && end.isSuccess();
        }
    }
}
