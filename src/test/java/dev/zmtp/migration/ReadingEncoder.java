package dev.zmtp.migration;

import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import io.netty.buffer.ByteBuf;
import io.netty.util.CharsetUtil;

/**
 * An old-style encoder, configured by class: the sensor, the unit, and eight bytes for each sample. It announces as
 * many bytes as a name may take, and corrects the frame when the length is known.
 */
public final class ReadingEncoder implements ZMTPEncoder {

    private static final int MAX_OCTETS_PER_CHAR = 3;

    @Override
    public void estimate(Object message, ZMTPEstimator estimator) {
        Reading reading = (Reading) message;
        estimator.frame(reading.sensor().length() * MAX_OCTETS_PER_CHAR);
        estimator.frame(reading.unit().length());
        estimator.frame(Math.toIntExact(reading.samples() * Long.BYTES));
    }

    @Override
    public void encode(Object message, ZMTPWriter writer) {
        Reading reading = (Reading) message;
        ByteBuf out = writer.frame(reading.sensor().length() * MAX_OCTETS_PER_CHAR, true);
        int start = out.writerIndex();
        out.writeBytes(reading.sensor().getBytes(CharsetUtil.UTF_8));
        writer.reframe(out.writerIndex() - start, true);

        writer.frame(reading.unit().length(), true).writeBytes(reading.unit().getBytes(CharsetUtil.US_ASCII));

        ByteBuf samples = writer.frame(Math.toIntExact(reading.samples() * Long.BYTES), false);
        for (long i = 0; i < reading.samples(); i++) {
            samples.writeLong(i);
        }
    }

    @Override
    public void close() {}
}
