package dev.zmtp.soak;

import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.unix.DomainSocketAddress;

/** The transport of event loops. */
enum IoTransport {
    NIO {
        @Override
        IoHandlerFactory newHandlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        void configure(ZMTPSocketConfig.Builder socket) {}
    },

    EPOLL {
        @Override
        IoHandlerFactory newHandlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        void configure(ZMTPSocketConfig.Builder socket) {
            socket.tcpChannels(EpollSocketChannel::new, EpollServerSocketChannel::new);
            socket.ipcChannels(
                    EpollDomainSocketChannel::new, EpollServerDomainSocketChannel::new, DomainSocketAddress::new);
        }
    };

    abstract IoHandlerFactory newHandlers();

    /** Sets channels that match the event loops. */
    abstract void configure(ZMTPSocketConfig.Builder socket);
}
