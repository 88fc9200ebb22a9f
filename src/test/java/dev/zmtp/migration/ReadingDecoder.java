package dev.zmtp.migration;

import dev.zmtp.codec.ZMTPDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.CharsetUtil;
import java.util.List;

/** An old-style decoder, to be given by class: adds the samples up as they arrive and never has all of them. */
public final class ReadingDecoder implements ZMTPDecoder {

    private int frame;
    private long length;
    private String sensor = "";
    private String unit = "";
    private long samples;
    private long sum;

    @Override
    public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
        this.length = length;
        frame++;
    }

    @Override
    public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
        if (frame == 3) {
            while (data.readableBytes() >= Long.BYTES) {
                sum += data.readLong();
                samples++;
            }
        } else if (data.readableBytes() == length) {
            String text = data.toString(CharsetUtil.UTF_8);
            data.skipBytes(data.readableBytes());
            if (frame == 1) {
                sensor = text;
            } else {
                unit = text;
            }
        }
    }

    @Override
    public void finish(ChannelHandlerContext ctx, List<Object> out) {
        out.add(new Reading(sensor, unit, samples, sum));
        frame = 0;
        samples = 0;
        sum = 0;
    }

    @Override
    public void close() {}
}
