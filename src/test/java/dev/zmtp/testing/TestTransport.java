package dev.zmtp.testing;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringDomainSocketChannel;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerDomainSocketChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Each way of Netty's to carry bytes that runs on Linux.
 *
 * <p>A constant names classes that may not be there, on Netty 4.1 or without a native library, so they stand in lambdas
 * and are looked for when it is used. {@code NIO_UNIX} has no abstract names: the JDK's addresses are paths.
 */
@SuppressWarnings({"deprecation", "ImmutableEnumChecker"}) // the groups that Netty 4.1 knows too; lambdas without state
public enum TestTransport {
    /** TCP by the JDK. */
    NIO(
            Need.NOTHING,
            loops -> new Kit(EventLoops.newGroup(loops), NioSocketChannel::new, NioServerSocketChannel::new),
            TestTransport::loopback),
    /** Within the JVM, without a system call. */
    LOCAL(
            Need.NOTHING,
            loops -> new Kit(new DefaultEventLoopGroup(loops), LocalChannel::new, LocalServerChannel::new),
            dir -> new LocalAddress(UUID.randomUUID().toString())),
    /** TCP by epoll. */
    EPOLL(
            Need.EPOLL,
            loops -> new Kit(new EpollEventLoopGroup(loops), EpollSocketChannel::new, EpollServerSocketChannel::new),
            TestTransport::loopback),
    /** A Unix domain socket by epoll. */
    EPOLL_UNIX(Need.EPOLL, TestTransport::epollUnix, dir -> new DomainSocketAddress(path(dir))),
    /** A Unix domain socket that has no file, by epoll. */
    EPOLL_ABSTRACT(Need.EPOLL, TestTransport::epollUnix, dir -> new DomainSocketAddress(abstractName())),
    /** A Unix domain socket by the JDK, in Netty 4.2. */
    NIO_UNIX(
            Need.NOTHING,
            loops ->
                    new Kit(EventLoops.newGroup(loops), NioDomainSocketChannel::new, NioServerDomainSocketChannel::new),
            dir -> UnixDomainSocketAddress.of(path(dir))),
    /** Shared memory, in Netty 4.2. */
    SHARED_MEMORY(
            Need.NOTHING,
            loops -> new Kit(EventLoops.newGroup(loops), SharedMemoryChannel::new, SharedMemoryServerChannel::new),
            dir -> new SharedMemoryAddress(path(dir))),
    /** Shared memory, with loops and sockets of epoll. */
    EPOLL_SHARED_MEMORY(
            Need.EPOLL,
            loops -> new Kit(
                    new EpollEventLoopGroup(loops),
                    () -> new SharedMemoryChannel(EpollDomainSocketChannel::new, DomainSocketAddress::new),
                    () -> new SharedMemoryServerChannel(EpollServerDomainSocketChannel::new, DomainSocketAddress::new)),
            dir -> new SharedMemoryAddress(path(dir))),
    /** TCP by io_uring, in Netty 4.2. */
    IO_URING(
            Need.IO_URING,
            loops -> new Kit(Uring.plain(loops), IoUringSocketChannel::new, IoUringServerSocketChannel::new),
            TestTransport::loopback),
    /** TCP by io_uring, which reads into a ring of shared buffers and sends without copying. */
    IO_URING_RING(
            Need.IO_URING_RINGS,
            loops -> new Kit(
                    Uring.withRing(loops),
                    IoUringSocketChannel::new,
                    IoUringServerSocketChannel::new,
                    Map.of(
                            IoUringChannelOption.IO_URING_BUFFER_GROUP_ID,
                            Uring.RING,
                            IoUringChannelOption.IO_URING_WRITE_ZERO_COPY_THRESHOLD,
                            1024)),
            TestTransport::loopback),
    /** A Unix domain socket by io_uring, in Netty 4.2. */
    IO_URING_UNIX(Need.IO_URING, TestTransport::uringUnix, dir -> new DomainSocketAddress(path(dir))),
    /** A Unix domain socket that has no file, by io_uring, in Netty 4.2. */
    IO_URING_ABSTRACT(Need.IO_URING, TestTransport::uringUnix, dir -> new DomainSocketAddress(abstractName()));

    /**
     * What a connection needs.
     *
     * @param group the event loops, which the caller shuts down
     * @param channel makes a client's channel
     * @param server makes a server's
     * @param options the options that a channel needs
     */
    public record Kit(
            EventLoopGroup group,
            ChannelFactory<? extends Channel> channel,
            ChannelFactory<? extends ServerChannel> server,
            Map<ChannelOption<?>, Object> options) {
        private Kit(
                EventLoopGroup group,
                ChannelFactory<? extends Channel> channel,
                ChannelFactory<? extends ServerChannel> server) {
            this(group, channel, server, Map.of());
        }
    }

    private enum Need {
        NOTHING {
            @Override
            @Nullable
            Throwable missing() {
                return null;
            }

            @Override
            boolean isShipped() {
                return true;
            }
        },
        EPOLL {
            @Override
            @Nullable
            Throwable missing() {
                return Epoll.unavailabilityCause();
            }

            @Override
            boolean isShipped() {
                return isLinux() && (hasLibrary("epoll") || (isIntel() && isCi()));
            }
        },
        /** Also depends on the kernel, which may refuse it to containers or altogether. */
        IO_URING {
            @Override
            @Nullable
            Throwable missing() {
                return IoUring.unavailabilityCause();
            }

            @Override
            boolean isShipped() {
                return false;
            }
        },
        IO_URING_RINGS {
            @Override
            @Nullable
            Throwable missing() {
                Throwable cause = IO_URING.missing();
                return cause != null || IoUring.isRegisterBufferRingSupported()
                        ? cause
                        : new UnsupportedOperationException("the kernel has no rings of buffers");
            }

            @Override
            boolean isShipped() {
                return false;
            }
        };

        abstract @Nullable Throwable missing();

        /**
         * Whether it must be there: the operating system has it, and its library is on the class path. Where CI=true,
         * the library must be, too, or the tests would be skipped without a word.
         */
        abstract boolean isShipped();
    }

    private final Need need;
    private final IntFunction<Kit> kit;
    private final Function<Path, SocketAddress> address;

    TestTransport(Need need, IntFunction<Kit> kit, Function<Path, SocketAddress> address) {
        this.need = need;
        this.kit = kit;
        this.address = address;
    }

    /** Why this transport does not run on this machine, or null if it does. */
    public @Nullable String refusal() {
        Throwable cause = need.missing();
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause == null ? null : this + " does not run here: " + cause;
    }

    /** Whether a machine that refuses this transport is not what the tests were made for. */
    public boolean isRequired() {
        return need.isShipped();
    }

    /** Returns two new event loops and the classes that go with them. */
    public Kit kit() {
        return kit(2);
    }

    /** Returns so many new event loops and the classes that go with them. */
    public Kit kit(int loops) {
        return kit.apply(loops);
    }

    /** Returns an unused address to bind a server to; if it names a file, that is in {@code dir}. */
    public SocketAddress newAddress(Path dir) {
        return address.apply(dir);
    }

    private static SocketAddress loopback(Path dir) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static String path(Path dir) {
        return dir.resolve("s").toString();
    }

    private static String abstractName() {
        return "\0netty-zmtp-" + UUID.randomUUID();
    }

    private static Kit epollUnix(int loops) {
        return new Kit(
                new EpollEventLoopGroup(loops), EpollDomainSocketChannel::new, EpollServerDomainSocketChannel::new);
    }

    private static Kit uringUnix(int loops) {
        return new Kit(Uring.plain(loops), IoUringDomainSocketChannel::new, IoUringServerDomainSocketChannel::new);
    }

    /** Apart, as the JVM looks for the classes of whatever stands beside it when it verifies the enum. */
    private static final class Uring {
        private static final short RING = 1;
        private static final short RING_BUFFERS = 64;
        private static final int RING_BUFFER_LENGTH = 16 << 10;

        private static EventLoopGroup plain(int loops) {
            return new MultiThreadIoEventLoopGroup(loops, IoUringIoHandler.newFactory());
        }

        private static EventLoopGroup withRing(int loops) {
            IoUringBufferRingConfig ring = IoUringBufferRingConfig.builder()
                    .bufferGroupId(RING)
                    .bufferRingSize(RING_BUFFERS)
                    .batchSize(RING_BUFFERS)
                    .allocator(new IoUringFixedBufferRingAllocator(RING_BUFFER_LENGTH))
                    .build();
            return new MultiThreadIoEventLoopGroup(
                    loops, IoUringIoHandler.newFactory(new IoUringIoHandlerConfig().setBufferRingConfig(ring)));
        }
    }

    private static boolean isLinux() {
        return System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux");
    }

    /** The architecture of the native library that the build has. */
    private static boolean isIntel() {
        return System.getProperty("os.arch").equals("amd64");
    }

    private static boolean isCi() {
        return Boolean.parseBoolean(System.getenv("CI"));
    }

    private static boolean hasLibrary(String name) {
        String arch = isIntel() ? "x86_64" : System.getProperty("os.arch");
        return TestTransport.class.getResource(
                        "/META-INF/native/libnetty_transport_native_" + name + "_" + arch + ".so")
                != null;
    }
}
