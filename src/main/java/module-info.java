import org.jspecify.annotations.NullMarked;

/** A Netty codec for ZMTP, the wire protocol of ZeroMQ. Start at {@code dev.zmtp.codec.ZMTPCodec}. */
@NullMarked
module dev.zmtp {
    requires transitive io.netty.buffer;
    requires transitive io.netty.codec;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires static io.netty.handler;
    requires static org.bouncycastle.provider;
    requires static org.jspecify;

    exports dev.zmtp;
    exports dev.zmtp.codec;
    exports dev.zmtp.security;
    exports dev.zmtp.shm;
    exports dev.zmtp.zap;
}
