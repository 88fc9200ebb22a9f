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

    /** Nothing is read for now, whether the user or auto-read asks. */
    private boolean paused;

    /** Somebody has asked in the pause. */
    private boolean withheld;

    /** Somebody has asked for the bytes that are decoded now, up to the end of the transport's read. */
    private boolean delivering;

    ReadDemand(ChannelHandlerContext ctx, ZMTPSession session) {
        this.ctx = ctx;
        this.session = session;
    }

    boolean isAutoRead() {
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
    void turnComplete() {
        delivering = false;
    }

    /** Notes the end of a read; auto-read issues the next one after it. */
    void readComplete() {
        continuingAutoRead = isAutoRead();
    }

    /**
     * Reads on if a read was withheld in a pause; or if the channel does not read by itself, and the handshake or the
     * user still waits for bytes.
     */
    void readOn() {
        boolean wanted = withheld || (!isAutoRead() && (requested || !session.isHandshakeDone()));
        if (wanted && !paused) {
            withheld = false;
            ctx.read();
        }
    }

    /** From now on no read is issued. */
    void pause() {
        paused = true;
    }

    /** Ends the {@link #pause}. The caller {@linkplain #readOn reads on} when it can bear that bytes come. */
    void resume() {
        paused = false;
    }

    /** Returns whether the read that was just asked for has to wait for the end of the pause. */
    boolean withholdsRead() {
        withheld |= paused;
        return paused;
    }

    /** The codec was removed: issues the read that was withheld, if there is one. */
    void removed() {
        if (withheld) {
            ctx.read();
        }
    }
}
