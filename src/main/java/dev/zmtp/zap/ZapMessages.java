package dev.zmtp.zap;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Metadata;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests and replies of ZAP (RFC 27), after the delimiter of their envelope. */
final class ZapMessages {

    private static final String VERSION = "1.0";
    private static final int REPLY_FRAMES = 7;
    private static final int MAX_PROPERTIES = 256;

    private ZapMessages() {}

    /** Returns the request with this ID, which takes over the credentials. */
    static ZMTPMessage request(long id, ZMTPAuthRequest request, List<ByteBuf> credentials) {
        List<ByteBuf> frames = new ArrayList<>();
        frames.add(Unpooled.EMPTY_BUFFER); // the delimiter of an envelope
        frames.add(text(VERSION));
        frames.add(text(Long.toString(id)));
        frames.add(text(request.domain()));
        frames.add(text(address(request.peerAddress())));
        frames.add(Unpooled.copiedBuffer(request.identity()));
        frames.add(text(request.mechanism()));
        frames.addAll(credentials);
        return ZMTPMessage.from(frames);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static String address(@Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
            return NetUtil.toAddressString(
                    inet.getAddress()); // the short form, 2001:db8::7, as in lists of ZAP handlers
        }
        return address == null ? "" : address.toString();
    }

    /** Returns the ID of the request that the reply is for; null if it has none. The caller releases the reply. */
    static @Nullable Long id(ZMTPMessage reply) {
        if (reply.size() < 3) {
            return null;
        }
        String digits = reply.frame(2).toString(StandardCharsets.US_ASCII);
        return digits.matches("[1-9][0-9]{0,17}") ? Long.valueOf(digits) : null;
    }

    /** Returns the decision of the reply, which is a temporary failure if the reply is malformed. */
    static ZMTPAuthDecision decision(ZMTPMessage reply) {
        if (reply.size() != REPLY_FRAMES) {
            return malformed("frames: " + reply.size() + " (expected: " + REPLY_FRAMES + ")");
        }
        if (reply.frame(0).isReadable()) {
            return malformed("delimiter: " + ByteBufUtil.hexDump(reply.frame(0)) + " (expected: empty)");
        }
        if (!reply.frame(1).equals(text(VERSION))) {
            return malformed("version: " + ByteBufUtil.hexDump(reply.frame(1)) + " (expected: " + VERSION + ")");
        }
        String status = reply.frame(3).toString(StandardCharsets.US_ASCII);
        String text = reply.frame(4).toString(StandardCharsets.UTF_8);
        return switch (status) {
            case "200" -> accepted(reply);
            case "300" -> ZMTPAuthDecision.temporaryFailure(text);
            case "400" -> ZMTPAuthDecision.deny(text);
            case "500" -> ZMTPAuthDecision.error(text);
            default -> malformed("status: " + status + " (expected: 200, 300, 400 or 500)");
        };
    }

    private static ZMTPAuthDecision accepted(ZMTPMessage reply) {
        try {
            ZMTPMetadata metadata = Metadata.read(reply.frame(6).duplicate(), MAX_PROPERTIES);
            return ZMTPAuthDecision.accept(reply.frame(5).toString(StandardCharsets.UTF_8), metadata);
        } catch (ZMTPException e) {
            return malformed("metadata: " + e.getMessage());
        }
    }

    private static ZMTPAuthDecision malformed(String what) {
        return ZMTPAuthDecision.temporaryFailure("malformed ZAP reply: " + what);
    }
}
