package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPSocketEvent;
import java.util.function.Consumer;

/** A listener that only counts events, so events that are logged without a listener are still logged. */
public interface Bystander extends Consumer<ZMTPSocketEvent> {}
