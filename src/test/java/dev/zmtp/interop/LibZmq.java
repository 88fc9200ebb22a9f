package dev.zmtp.interop;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libzmq that the tests need, through JNA, with an exception where the function reports a failure. For
 * 64-bit platforms: size_t is a long.
 */
final class LibZmq {

    static final int ROUTING_ID = 5;
    static final int SUBSCRIBE = 6;
    static final int UNSUBSCRIBE = 7;
    static final int EVENTS = 15;
    static final int LINGER = 17;
    static final int BACKLOG = 19;
    static final int SNDHWM = 23;
    static final int RCVHWM = 24;
    static final int RCVTIMEO = 27;
    static final int SNDTIMEO = 28;
    static final int LAST_ENDPOINT = 32;
    static final int PLAIN_SERVER = 44;
    static final int PLAIN_USERNAME = 45;
    static final int PLAIN_PASSWORD = 46;
    static final int CURVE_SERVER = 47;
    static final int CURVE_PUBLICKEY = 48;
    static final int CURVE_SECRETKEY = 49;
    static final int CURVE_SERVERKEY = 50;
    static final int PROBE_ROUTER = 51;
    static final int REQ_CORRELATE = 52;
    static final int ZAP_DOMAIN = 55;
    static final int HANDSHAKE_IVL = 66;
    static final int HEARTBEAT_IVL = 75;
    static final int HEARTBEAT_TTL = 76;
    static final int HEARTBEAT_TIMEOUT = 77;
    static final int ONLY_FIRST_SUBSCRIBE = 108;

    static final int SNDMORE = 2;

    static final int EVENT_DISCONNECTED = 0x0200;
    static final int EVENT_HANDSHAKE_FAILED_NO_DETAIL = 0x0800;
    static final int EVENT_HANDSHAKE_SUCCEEDED = 0x1000;
    static final int EVENT_HANDSHAKE_FAILED_PROTOCOL = 0x2000;
    static final int EVENT_HANDSHAKE_FAILED_AUTH = 0x4000;

    private static final int EINTR = 4;
    private static final int EAGAIN = Platform.isMac() ? 35 : 11;

    /** Of libzmq's own numbers: the context ends. */
    private static final int ETERM = 156384765;

    private static final int MAX_ENDPOINT = 256;

    /** Bytes of a zmq_msg_t. */
    private static final int MSG_SIZE = 64;

    private final Api api;

    private LibZmq(Api api) {
        this.api = api;
    }

    /**
     * Loads the library of this name.
     *
     * @throws UnsatisfiedLinkError if there is none
     */
    static LibZmq load(String name) {
        return new LibZmq(Native.load(name, Api.class));
    }

    /** Whether the library is at least of this version. */
    boolean isAtLeast(int major, int minor, int patch) {
        IntByReference[] version = {new IntByReference(), new IntByReference(), new IntByReference()};
        api.zmq_version(version[0], version[1], version[2]);
        int[] least = {major, minor, patch};
        for (int i = 0; i < least.length; i++) {
            if (version[i].getValue() != least[i]) {
                return version[i].getValue() > least[i];
            }
        }
        return true;
    }

    /** Whether the library was built with this, such as {@code curve}. */
    boolean has(String capability) {
        return api.zmq_has(capability) != 0;
    }

    Pointer newContext() {
        return check(api.zmq_ctx_new(), "zmq_ctx_new");
    }

    void terminate(Pointer context) {
        check(api.zmq_ctx_term(context), "zmq_ctx_term");
    }

    Pointer socket(Pointer context, int type) {
        return check(api.zmq_socket(context, type), "zmq_socket");
    }

    void close(Pointer socket) {
        check(api.zmq_close(socket), "zmq_close");
    }

    void set(Pointer socket, int option, int value) {
        IntByReference holder = new IntByReference(value);
        check(api.zmq_setsockopt(socket, option, holder.getPointer(), Integer.BYTES), "zmq_setsockopt " + option);
    }

    void set(Pointer socket, int option, String value) {
        set(socket, option, value.getBytes(StandardCharsets.UTF_8));
    }

    void set(Pointer socket, int option, byte[] bytes) {
        try (Memory holder = new Memory(bytes.length + 1L)) {
            holder.write(0, bytes, 0, bytes.length);
            check(api.zmq_setsockopt(socket, option, holder, bytes.length), "zmq_setsockopt " + option);
        }
    }

    int getInt(Pointer socket, int option) {
        IntByReference holder = new IntByReference();
        LongByReference length = new LongByReference(Integer.BYTES);
        check(api.zmq_getsockopt(socket, option, holder.getPointer(), length), "zmq_getsockopt " + option);
        return holder.getValue();
    }

    String getString(Pointer socket, int option) {
        try (Memory holder = new Memory(MAX_ENDPOINT)) {
            LongByReference length = new LongByReference(MAX_ENDPOINT);
            check(api.zmq_getsockopt(socket, option, holder, length), "zmq_getsockopt " + option);
            return holder.getString(0);
        }
    }

    void bind(Pointer socket, String endpoint) {
        check(api.zmq_bind(socket, endpoint), "zmq_bind");
    }

    void connect(Pointer socket, String endpoint) {
        check(api.zmq_connect(socket, endpoint), "zmq_connect");
    }

    /** Reports {@code events} of {@code socket} to the PAIR that connects to {@code endpoint}. */
    void monitor(Pointer socket, String endpoint, int events) {
        check(api.zmq_socket_monitor(socket, endpoint, events), "zmq_socket_monitor");
    }

    /** Sends a frame. */
    void send(Pointer socket, byte[] frame, int flags) {
        check(sent(socket, frame, flags), "zmq_send");
    }

    /** Sends a frame, unless there is no room for it within the time of SNDTIMEO; returns whether it was taken. */
    boolean trySend(Pointer socket, byte[] frame, int flags) {
        int sent = sent(socket, frame, flags);
        if (sent < 0 && Native.getLastError() == EAGAIN) {
            return false;
        }
        check(sent, "zmq_send");
        return true;
    }

    private int sent(Pointer socket, byte[] frame, int flags) {
        int sent;
        do {
            sent = api.zmq_send(socket, frame, frame.length, flags);
        } while (sent < 0 && Native.getLastError() == EINTR);
        return sent;
    }

    /** Passes messages on in both directions until the context ends. */
    void proxy(Pointer frontend, Pointer backend) {
        int result;
        do {
            result = api.zmq_proxy(frontend, backend, null);
        } while (result < 0 && Native.getLastError() == EINTR);
        if (Native.getLastError() != ETERM) {
            throw failure("zmq_proxy");
        }
    }

    /** The next frame, or null if there is none within the time of RCVTIMEO, or before the context ends. */
    @Nullable
    Frame receive(Pointer socket) {
        try (Memory msg = new Memory(MSG_SIZE)) {
            check(api.zmq_msg_init(msg), "zmq_msg_init");
            int length;
            do {
                length = api.zmq_msg_recv(msg, socket, 0);
            } while (length < 0 && Native.getLastError() == EINTR);
            if (length < 0 && (Native.getLastError() == EAGAIN || Native.getLastError() == ETERM)) {
                api.zmq_msg_close(msg);
                return null;
            }
            check(length, "zmq_msg_recv");
            byte[] bytes = length == 0 ? new byte[0] : api.zmq_msg_data(msg).getByteArray(0, length);
            boolean more = api.zmq_msg_more(msg) != 0;
            check(api.zmq_msg_close(msg), "zmq_msg_close");
            return new Frame(bytes, more);
        }
    }

    private Pointer check(@Nullable Pointer result, String function) {
        if (result == null) {
            throw failure(function);
        }
        return result;
    }

    private void check(int result, String function) {
        if (result < 0) {
            throw failure(function);
        }
    }

    /**
     * errno comes from JNA, which keeps it: by the time that zmq_errno could be called the JVM may have used it too.
     */
    private LastErrorException failure(String function) {
        return new LastErrorException(function + ": " + api.zmq_strerror(Native.getLastError()));
    }

    /** A frame, and whether another of its message follows. */
    @SuppressWarnings("ArrayRecordComponent") // Nobody compares frames: a test compares the message they make.
    record Frame(byte[] bytes, boolean more) {}

    /** The functions, by their names in C. */
    @SuppressWarnings("MemberName")
    interface Api extends Library {
        void zmq_version(IntByReference major, IntByReference minor, IntByReference patch);

        String zmq_strerror(int errno);

        int zmq_has(String capability);

        @Nullable
        Pointer zmq_ctx_new();

        int zmq_ctx_term(Pointer context);

        @Nullable
        Pointer zmq_socket(Pointer context, int type);

        int zmq_close(Pointer socket);

        int zmq_setsockopt(Pointer socket, int option, Pointer value, long length);

        int zmq_getsockopt(Pointer socket, int option, Pointer value, LongByReference length);

        int zmq_bind(Pointer socket, String endpoint);

        int zmq_connect(Pointer socket, String endpoint);

        int zmq_socket_monitor(Pointer socket, String endpoint, int events);

        int zmq_proxy(Pointer frontend, Pointer backend, @Nullable Pointer capture);

        int zmq_send(Pointer socket, byte[] data, long length, int flags);

        int zmq_msg_init(Pointer msg);

        int zmq_msg_recv(Pointer msg, Pointer socket, int flags);

        Pointer zmq_msg_data(Pointer msg);

        int zmq_msg_more(Pointer msg);

        int zmq_msg_close(Pointer msg);
    }
}
