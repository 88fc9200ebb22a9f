package dev.zmtp.internal.connection;

import io.netty.channel.ChannelHandlerContext;

/**
 * Tracks reads when auto-read is off. A read of the transport can contain no message but only a command or a part of a
 * frame, so the codec continues to read until the user that has called {@code read()} has received a message.
 */
public final class ReadDemand {

    private final ChannelHandlerContext ctx;
    private final Session session;

    /**
     * True if the user has called {@code read()} and has received no message since. Never true while auto-read is on.
     */
    private boolean requested;

    /**
     * Set while auto-read issues its next read. A read at any other time means that auto-read has just been enabled.
     */
    private boolean continuingAutoRead;

    /**
     * True if the user or auto-read has requested the bytes that are being decoded, until the end of the transport's
     * read.
     */
    private boolean delivering;

    ReadDemand(ChannelHandlerContext ctx, Session session) {
        this.ctx = ctx;
        this.session = session;
    }

    boolean isAutoRead() {
        return ctx.channel().config().isAutoRead();
    }

    /** Returns whether data that a peer sends now is read. */
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

    /** Called when the user knows of the end of the handshake, and might have turned auto-read off until later. */
    public void handshakeSucceeded() {
        delivering = requested || isAutoRead();
    }

    /** Notes that a message was fired, which fulfills the request. */
    void messageFired() {
        requested = false;
    }

    /** Called before bytes that were read are decoded. */
    void readStarted() {
        delivering |= requested || isAutoRead();
    }

    /**
     * Returns whether the read data can be decoded. The handshake decodes all data, the user receives only requested
     * data. A read by the handshake itself can contain data after the handshake.
     */
    boolean isWanted() {
        return delivering || requested || isAutoRead() || !session.isHandshakeDone();
    }

    /** Delivers all data that was read, because the channel is closed and there will be no further requests. */
    void finish() {
        delivering = true;
    }

    /** Called when the requested data has been delivered. */
    void budgetRenewed() {
        delivering = false;
    }

    /** Notes the end of a read, after which auto-read issues the next read. */
    void readComplete() {
        continuingAutoRead = isAutoRead();
    }

    /** Reads again if auto-read is off, and the handshake or the user still waits for bytes. */
    void readOn() {
        if (!isAutoRead() && (requested || !session.isHandshakeDone())) {
            ctx.read();
        }
    }
}
