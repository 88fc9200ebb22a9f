package dev.zmtp.internal.transport;

import java.net.SocketAddress;

/** A name that is known only in this process. Names are compared as text. */
final class InprocAddress extends SocketAddress {

    private static final long serialVersionUID = 1;

    private final String name;

    InprocAddress(String name) {
        this.name = name;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof InprocAddress that && name.equals(that.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return "inproc://" + name;
    }
}
