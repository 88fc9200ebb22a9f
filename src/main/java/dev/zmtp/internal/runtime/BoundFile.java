package dev.zmtp.internal.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The file that a bind created. If it was removed, another server can have bound a new file at the same path in the
 * meantime.
 *
 * @param key identifies the file; null if the file was already gone, or if the file system has no keys
 */
public record BoundFile(Path path, @Nullable Object key) {

    /** Returns the file at the path. Called immediately after the bind. */
    public static BoundFile at(Path path) {
        return new BoundFile(path, keyOf(path));
    }

    private static @Nullable Object keyOf(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (IOException e) {
            return null; // it is gone
        }
    }

    /** Returns whether files in the directory of this path have keys, or whether the directory cannot be read. */
    public static boolean hasKeysBeside(Path path) {
        Path directory = path.toAbsolutePath().getParent();
        try {
            return directory == null
                    || Files.readAttributes(directory, BasicFileAttributes.class)
                                    .fileKey()
                            != null;
        } catch (IOException e) {
            return true; // whatever is done next in the directory fails
        }
    }

    /** Deletes the file, unless a different file is at its path. */
    public void delete() throws IOException {
        if (Objects.equals(key, keyOf(path))) {
            Files.deleteIfExists(path);
        }
    }
}
