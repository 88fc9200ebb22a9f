package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/** Any bytes as properties, and the properties as bytes again. */
public final class MetadataFuzz {

    private MetadataFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Input input = new Input(bytes);
        int most = input.number(256, 1, 2, 3);
        ByteBuf in = Unpooled.wrappedBuffer(input.rest());
        String given = ByteBufUtil.hexDump(in);
        ZMTPMetadata metadata;
        try {
            metadata = Metadata.read(in, most);
        } catch (ZMTPException documented) {
            boolean known = documented.code() == ZMTPException.Code.MALFORMED
                    || documented.code() == ZMTPException.Code.TOO_LARGE;
            FuzzFailure.unless(known, "code", documented.code());
            return;
        }
        FuzzFailure.unless(metadata.size() <= most, "properties", metadata);
        // Lengths have one form only, so what was understood is what would be written.
        ByteBuf again = Unpooled.buffer(Metadata.length(metadata), Metadata.length(metadata));
        Metadata.write(again, metadata);
        FuzzFailure.unlessEqual(ByteBufUtil.hexDump(again), given, "written again");
        FuzzFailure.unlessEqual(Metadata.read(again, most), metadata, "read again");
        for (int i = 0; i < metadata.size(); i++) {
            FuzzFailure.unless(metadata.value(metadata.name(i)) != null, "not found", metadata.name(i));
        }
        FuzzFailure.unless(metadata.toString().matches("[ -~]*"), "not printable", metadata);
    }
}
