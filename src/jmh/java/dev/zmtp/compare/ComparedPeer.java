package dev.zmtp.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * A library on a transport, which is a row of the tables, and how its program is started.
 *
 * @param name what the tables call it, such as {@code netty-zmtp epoll}
 * @param library the library alone, such as {@code netty-zmtp}
 * @param transport its transport, {@code nio}, {@code epoll} or {@code io_uring}; rows of one transport are compared
 * @param command what starts the program; the role and the keys are appended
 * @param keys arguments that follow each role, in place of those of a cell
 * @param missing why it cannot be started here, empty if it can
 */
record ComparedPeer(
        String name, String library, String transport, List<String> command, List<String> keys, String missing) {

    /** The whole command for a role with the keys of a cell. */
    List<String> commandFor(String role, List<String> cellKeys) {
        List<String> all = new ArrayList<>(command);
        all.add(role);
        cellKeys.stream().filter(key -> !isReplaced(key)).forEach(all::add);
        all.addAll(keys);
        return all;
    }

    private boolean isReplaced(String cellKey) {
        String name = cellKey.substring(0, cellKey.indexOf('=') + 1);
        return keys.stream().anyMatch(key -> key.startsWith(name));
    }
}
