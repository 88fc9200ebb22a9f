package dev.zmtp.codec;

import io.netty.channel.ChannelHandlerContext;

/**
 * Tracks reads when auto-read is off. One read of the transport may bring no message, only a command or a part of a
 * frame; so the codec reads on until the user who has called {@code read()} has got a message.
 */
final class ReadDemand {

    private final ChannelHandlerContext ctx;
    private final ZMTPSession session;

    /** The user has called {@code read()} and has not got a message since. Never true while auto-read is on. */
    private boolean requested;

    /**
     * Auto-read issues its next read just now. A read that it issues at any other time means that it was off until
     * then.
     */
    private boolean continuingAutoRead;

    ReadDemand(ChannelHandlerContext ctx, ZMTPSession session) {
        this.ctx = ctx;
        this.session = session;
    }

    private boolean isAutoRead() {
        return ctx.channel().config().isAutoRead();
    }

    /** Returns whether a peer that sends something now is heard. */
    boolean isListening() {
        return isAutoRead() || requested;
    }

    /**
     * Notes that a read was issued. Reads issued by auto-read do not count as requests.
     *
     * @return whether nothing was read until now
     */
    boolean readIssued() {
        boolean auto = isAutoRead();
        boolean resumed = auto ? !continuingAutoRead : !requested;
        continuingAutoRead = false;
        requested = !auto;
        return resumed;
    }

    /** A message was fired: the request is fulfilled. */
    void messageFired() {
        requested = false;
    }

    /** Notes the end of a read; auto-read issues the next one after it. */
    void readComplete() {
        continuingAutoRead = isAutoRead();
    }

    /** Reads on if the channel does not do so by itself, and the handshake or the user still waits for bytes. */
    void readOn() {
        if (!isAutoRead() && (requested || !session.isHandshakeDone())) {
            ctx.read();
        }
    }
}
