package dev.zmtp.internal.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The file that a bind has made. At the end, another one may be at its path: that of a server that was bound there
 * after somebody had removed ours.
 *
 * @param key tells it from others; null if it was gone at once, or if the file system has no keys
 */
public record BoundFile(Path path, @Nullable Object key) {

    /** Returns the file at the path. Called just after the bind. */
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

    /** Deletes it, unless another one is at its path. */
    public void delete() throws IOException {
        if (Objects.equals(key, keyOf(path))) {
            Files.deleteIfExists(path);
        }
    }
}
