import org.jspecify.annotations.NullMarked;

/**
 * ZeroMQ's sockets on Netty, and a codec for ZMTP, their wire protocol. Start at {@code dev.zmtp.socket.ZMTPSocket}, or
 * at {@code dev.zmtp.codec.ZMTPCodec} for a pipeline of your own.
 */
@NullMarked
@SuppressWarnings("requires-automatic") // JNA and Micrometer, which are optional
module dev.zmtp {
    requires transitive io.netty.buffer;
    requires transitive io.netty.codec;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires static com.sun.jna;
    requires static io.netty.codec.http;
    requires static io.netty.handler;
    requires static micrometer.core;
    requires static jdk.jfr;
    requires static org.bouncycastle.provider;
    requires static org.jspecify;

    exports dev.zmtp;
    exports dev.zmtp.capture;
    exports dev.zmtp.codec;
    exports dev.zmtp.metrics;
    exports dev.zmtp.security;
    exports dev.zmtp.shm;
    exports dev.zmtp.socket;
    exports dev.zmtp.test;
    exports dev.zmtp.websocket;
    exports dev.zmtp.zap;
}
