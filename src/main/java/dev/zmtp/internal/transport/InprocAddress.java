package dev.zmtp.internal.transport;

import java.net.SocketAddress;
import java.util.Objects;

/** A name that is known only in this process, and only to the sockets of a scope. Names are compared as text. */
final class InprocAddress extends SocketAddress {

    /** The scope of all sockets of the process that have no scope of their own. */
    static final Object PROCESS = InprocAddress.class;

    private static final long serialVersionUID = 1;

    private final transient Object scope;
    private final String text;

    InprocAddress(String text) {
        this(PROCESS, text);
    }

    InprocAddress(Object scope, String text) {
        this.scope = scope;
        this.text = text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof InprocAddress that && scope == that.scope && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return Objects.hash(System.identityHashCode(scope), text);
    }

    @Override
    public String toString() {
        return text;
    }
}
