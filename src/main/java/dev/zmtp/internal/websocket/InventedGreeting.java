package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.wire.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;

/** The greeting that the codec receives, because a peer over WebSocket sends none. */
final class InventedGreeting {

    private static final int REVISION_OF_V2 = 1;

    private InventedGreeting() {}

    /** Returns a greeting of ZMTP 3.0 for a peer with a mechanism, and of ZMTP 2.0 for a peer without a mechanism. */
    static ByteBuf of(ByteBufAllocator alloc, ZwsProtocol protocol, ZMTPConfig config) {
        String mechanism = protocol.mechanism();
        ByteBuf greeting = alloc.buffer(Greeting.V3_LENGTH);
        Greeting.writeSignature(greeting, 0);
        if (mechanism == null) {
            greeting.writeByte(REVISION_OF_V2).writeByte(fittingType(config.socketType()));
        } else {
            greeting.writeByte(ZMTPVersion.ZMTP30.revision());
            Greeting.writeRest(greeting, ZMTPVersion.ZMTP30, mechanism, false);
        }
        return greeting;
    }

    /** Returns the code of a type that fits, because a peer without a mechanism does not announce its type. */
    private static int fittingType(ZMTPSocketType ours) {
        return Arrays.stream(ZMTPSocketType.values())
                .filter(type -> !type.isDraft() && ours.accepts(type))
                .mapToInt(ZMTPSocketType::code)
                .findFirst()
                .orElse(0); // a draft type, which the codec refuses to use in ZMTP 2.0
    }
}
