package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.SSLException;
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

    /** Returns whether {@code failure} is that of a peer that has sent bytes, which TLS has not passed on. */
    public static boolean hasSentBytes(Throwable failure) {
        boolean isOfDecoder = failure instanceof DecoderException && !(failure instanceof ZMTPException);
        return isOfDecoder || (failure instanceof SSLException && !isTimeout(failure));
    }

    /** Returns whether {@code failure} is that of a TLS handshake that took too long. */
    public static boolean isTimeout(Throwable failure) {
        return TLS != null && Tls.isTimeout(failure);
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

        static boolean isTimeout(Throwable failure) {
            return failure instanceof SslHandshakeTimeoutException;
        }

        static boolean isCloseNotify(Object event) {
            return event instanceof SslCloseCompletionEvent end && end.isSuccess();
        }
    }
}
