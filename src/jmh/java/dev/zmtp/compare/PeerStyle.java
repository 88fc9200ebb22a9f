package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.util.LinkedHashMap;
import java.util.Map;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * How a peer looks in each picture: one colour and one marker, whatever else is drawn beside it. Libraries differ by
 * colour, the transports of one library by shade and marker.
 */
record PeerStyle(Color color, Marker marker) {

    /** The ends of a range: a short horizontal line at each quartile. */
    static final Marker RANGE_END = new Marker() {
        @Override
        public void paint(Graphics2D graphics, double x, double y, int size) {
            graphics.setStroke(new BasicStroke(1));
            graphics.draw(new Line2D.Double(x - 3, y, x + 3, y));
        }
    };

    private static final Map<String, PeerStyle> STYLES = new LinkedHashMap<>();

    static {
        put(ComparedPeers.OURS + " nio", 0x08306b, SeriesMarkers.CIRCLE);
        put(ComparedPeers.OURS + " epoll", 0x2171d6, SeriesMarkers.DIAMOND);
        put(ComparedPeers.OURS + " io_uring", 0x7ab8f5, SeriesMarkers.SQUARE);
        put(ComparedPeers.SOCKETS + " nio", 0x004d40, SeriesMarkers.CIRCLE);
        put(ComparedPeers.SOCKETS + " epoll", 0x26a69a, SeriesMarkers.DIAMOND);
        put(ComparedPeers.SOCKETS + " io_uring", 0x80cbc4, SeriesMarkers.SQUARE);
        put(ComparedPeers.SOCKETS + " nio" + ComparedPeers.TCP, 0x6d9c94, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.SOCKETS + " epoll" + ComparedPeers.TCP, 0xa7d3cc, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.SOCKETS + " nio, blocking", 0x7cb342, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.SOCKETS + " nio, by hand", 0x558b6e, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.SOCKETS + " nio, thread", 0xafb42b, SeriesMarkers.SQUARE);
        put(ComparedPeers.SOCKETS + " nio, futures", 0x795548, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.SOCKETS + " nio, request", 0xef9a9a, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.SOCKETS + " nio, virtual threads", 0x37474f, SeriesMarkers.DIAMOND);
        put(ComparedPeers.SOCKETS + " nio, to REP", 0xd81b60, SeriesMarkers.CIRCLE);
        put(ComparedPeers.SOCKETS + " nio, one loop", 0x33691e, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.RAW + " nio", 0x404040, SeriesMarkers.CIRCLE);
        put(ComparedPeers.RAW + " epoll", 0x858585, SeriesMarkers.DIAMOND);
        put(ComparedPeers.RAW + " io_uring", 0xbdbdbd, SeriesMarkers.SQUARE);
        put(ComparedPeers.RAW + " nio" + ComparedPeers.BATCHED, 0x6b4a2b, SeriesMarkers.CIRCLE);
        put(ComparedPeers.RAW + " epoll" + ComparedPeers.BATCHED, 0xa9825a, SeriesMarkers.DIAMOND);
        put(ComparedPeers.RAW + " io_uring" + ComparedPeers.BATCHED, 0xd8c0a3, SeriesMarkers.SQUARE);
        put(ComparedPeers.RAW + " nio" + ComparedPeers.KEEPING, 0x5c2e5c, SeriesMarkers.CIRCLE);
        put(ComparedPeers.RAW + " epoll" + ComparedPeers.KEEPING, 0xa56ba5, SeriesMarkers.DIAMOND);
        put(ComparedPeers.LEAST + " nio", 0x00838f, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.LEAST + " nio" + ComparedPeers.FULL, 0x4fb3bf, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.OURS + " nio" + ComparedPeers.FEW, 0x5b6b8c, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.OURS + " epoll" + ComparedPeers.FEW, 0x93a5c9, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.OURS + " nio" + ComparedPeers.TCP, 0x3b6ea5, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.OURS + " epoll" + ComparedPeers.TCP, 0x9fc2e8, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.PREDECESSOR, 0x238b45, SeriesMarkers.TRIANGLE_UP);
        put(ComparedPeers.JEROMQ, 0xf08c00, SeriesMarkers.TRIANGLE_DOWN);
        put(ComparedPeers.LIBZMQ, 0xc9184a, SeriesMarkers.SQUARE);
        put(ComparedPeers.OMQ, 0x6a1b9a, SeriesMarkers.DIAMOND);
        put(ComparedPeers.AERON, 0x9e9d24, SeriesMarkers.CIRCLE);
        put(ComparedPeers.RING, 0x546e7a, SeriesMarkers.CIRCLE);
    }

    /** For a peer of which this class knows nothing, such as one in older results. */
    private static final PeerStyle UNKNOWN = new PeerStyle(new Color(0x8e44ad), SeriesMarkers.CROSS);

    /** The style of {@code row}. */
    static PeerStyle of(Row row) {
        return STYLES.getOrDefault(row.name(), UNKNOWN);
    }

    private static void put(String name, int rgb, Marker marker) {
        STYLES.put(name, new PeerStyle(new Color(rgb), marker));
    }
}
