package dev.zmtp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Properties that a peer announces during the handshake, in wire order (RFC 37, "Connection Metadata").
 *
 * <p>Names are case-insensitive. If a name occurs twice, the first value counts. Unknown properties are kept. Values
 * are opaque bytes. Immutable, with nothing to release.
 */
public final class ZMTPMetadata {

    /** Property with the socket type. */
    public static final String SOCKET_TYPE = "Socket-Type";
    /** Property with the identity of a REQ, DEALER or ROUTER. */
    public static final String IDENTITY = "Identity";
    /** Property that names one of several services at the same address. */
    public static final String RESOURCE = "Resource";

    /** Metadata without properties, as for ZMTP 1.0 and 2.0 peers, which announce none. */
    public static final ZMTPMetadata EMPTY = new ZMTPMetadata(List.of());

    private static final int MAX_NAME_LENGTH = 255;

    private record Property(String name, ByteBuffer value) {}

    /** Properties that nearly all peers announce, shared so that many connections keep them only once. */
    private static final Map<Property, Property> COMMON = common();

    private final List<Property> properties;

    private ZMTPMetadata(List<Property> properties) {
        this.properties = properties;
    }

    /**
     * Returns these properties with another property appended.
     *
     * @param name 1 to 255 characters of ISO 8859-1; RFC 37 allows letters, digits and {@code - _ . +}
     * @param value the bytes from position to limit, which are copied; the buffer is not moved
     * @throws IllegalArgumentException if the name is empty, too long, or has other characters
     */
    public ZMTPMetadata with(String name, ByteBuffer value) {
        if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException(
                    "property name length: " + name.length() + " (expected: 1 to " + MAX_NAME_LENGTH + ")");
        }
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) > 0xff) {
                throw new IllegalArgumentException("property name: " + name + " (expected: ISO 8859-1)");
            }
        }
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        List<Property> more = new ArrayList<>(properties.size() + 1);
        more.addAll(properties);
        Property added = new Property(name, ByteBuffer.wrap(bytes).asReadOnlyBuffer());
        more.add(COMMON.getOrDefault(added, added));
        return new ZMTPMetadata(List.copyOf(more));
    }

    private static Map<Property, Property> common() {
        Map<Property, Property> common = new HashMap<>();
        for (ZMTPSocketType type : ZMTPSocketType.values()) {
            ByteBuffer name = ByteBuffer.wrap(type.name().getBytes(StandardCharsets.US_ASCII));
            Property property = new Property(SOCKET_TYPE, name.asReadOnlyBuffer());
            common.put(property, property);
        }
        Property anonymous = new Property(IDENTITY, ByteBuffer.allocate(0).asReadOnlyBuffer());
        common.put(anonymous, anonymous);
        return common;
    }

    /** Returns these properties with another property appended, whose value is encoded as UTF-8. */
    public ZMTPMetadata with(String name, String value) {
        return with(name, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns these properties without those of that name. */
    public ZMTPMetadata without(String name) {
        return new ZMTPMetadata(properties.stream()
                .filter(property -> !property.name().equalsIgnoreCase(name))
                .toList());
    }

    /** Returns the number of properties, including properties of the same name. */
    public int size() {
        return properties.size();
    }

    /** Returns the names, spelled as received. */
    public List<String> names() {
        return properties.stream().map(Property::name).toList();
    }

    /** Returns the value of the first property of that name, read-only, or null if there is no such property. */
    public @Nullable ByteBuffer value(String name) {
        ByteBuffer found = find(name);
        return found == null ? null : found.duplicate();
    }

    /** Returns the value of the first property of that name, decoded as UTF-8, or null if there is no such property. */
    public @Nullable String valueUTF8(String name) {
        ByteBuffer found = find(name);
        return found == null
                ? null
                : StandardCharsets.UTF_8.decode(found.duplicate()).toString();
    }

    /** Returns the name of the property at {@code index}, spelled as received. */
    public String name(int index) {
        return properties.get(index).name();
    }

    /** Returns the value of the property at {@code index}, read-only. */
    public ByteBuffer value(int index) {
        return properties.get(index).value().duplicate();
    }

    private @Nullable ByteBuffer find(String name) {
        for (Property property : properties) {
            if (property.name().equalsIgnoreCase(name)) {
                return property.value();
            }
        }
        return null;
    }

    /** Returns whether {@code other} has the same properties with the same spelling, in the same order. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ZMTPMetadata that && properties.equals(that.properties);
    }

    @Override
    public int hashCode() {
        return properties.hashCode();
    }

    /** Returns the names, and the lengths of the values instead of the values, which can be secrets. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("ZMTPMetadata{");
        for (Property property : properties) {
            out.append(out.charAt(out.length() - 1) == '{' ? "" : ", ")
                    .append(Printable.text(property.name()))
                    .append('[')
                    .append(property.value().remaining())
                    .append(']');
        }
        return out.append('}').toString();
    }
}
