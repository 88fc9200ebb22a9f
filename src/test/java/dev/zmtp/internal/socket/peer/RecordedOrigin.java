package dev.zmtp.internal.socket.peer;

import dev.zmtp.socket.ZMTPEndpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connector, as a connection sees it, which notes what is reported. */
public record RecordedOrigin(List<String> calls) implements PeerHandler.Origin {

    @Override
    public String endpoint() {
        return "inproc://recorded";
    }

    @Override
    public @Nullable ZMTPEndpoint listener() {
        return null;
    }

    @Override
    public @Nullable Peer peer() {
        return null;
    }

    @Override
    public void up() {
        calls.add("origin up");
    }

    @Override
    public void ended(PeerHandler link, Throwable cause) {
        calls.add("origin ended");
    }
}
