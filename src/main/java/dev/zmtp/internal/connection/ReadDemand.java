package dev.zmtp.internal.connection;

import io.netty.channel.ChannelHandlerContext;

/**
 * Tracks reads when auto-read is off. One read of the transport may bring no message, only a command or a part of a
 * frame; so the codec reads on until the user who has called {@code read()} has got a message.
 */
public final class ReadDemand {

    private final ChannelHandlerContext ctx;
    private final Session session;

    /** The user has called {@code read()} and has not got a message since. Never true while auto-read is on. */
    private boolean requested;

    /**
     * Set while auto-read issues its next read. A read at any other time means that auto-read has just been switched
     * on.
     */
    private boolean continuingAutoRead;

    /** The user or auto-read has asked for the bytes that are decoded now, up to the end of the transport's read. */
    private boolean delivering;

    ReadDemand(ChannelHandlerContext ctx, Session session) {
        this.ctx = ctx;
        this.session = session;
    }

    boolean isAutoRead() {
        return ctx.channel().config().isAutoRead();
    }

    /** Returns whether a peer that sends something now is heard. */
    public boolean isListening() {
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

    /** Bytes that were read are about to be decoded. */
    void readStarted() {
        delivering |= requested || isAutoRead();
    }

    /**
     * Returns whether what was read may be decoded: the handshake takes all there is, the user what was asked for. A
     * read of the handshake's own may bring more than the handshake.
     */
    boolean isWanted() {
        return delivering || requested || isAutoRead() || !session.isHandshakeDone();
    }

    /** The channel is closed: what was read is delivered, as nothing will be asked for any more. */
    void finish() {
        delivering = true;
    }

    /** What was asked for has been delivered. */
    void budgetRenewed() {
        delivering = false;
    }

    /** Notes the end of a read; auto-read issues the next one after it. */
    void readComplete() {
        continuingAutoRead = isAutoRead();
    }

    /** Reads on if auto-read is off, and the handshake or the user still waits for bytes. */
    void readOn() {
        if (!isAutoRead() && (requested || !session.isHandshakeDone())) {
            ctx.read();
        }
    }
}
