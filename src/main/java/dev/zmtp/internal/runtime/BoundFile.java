package dev.zmtp.internal.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * The file that a bind created. If it was removed, another server can have bound a new file at the same path in the
 * meantime.
 *
 * @param key identifies the file; null if the file was already gone, or if the file system has no keys
 * @param made time when the file was made, because file systems reuse the keys of deleted files; null if it was gone
 */
public record BoundFile(
        Path path, @Nullable Object key, @Nullable FileTime made) {

    /** Returns the file at the path. Called immediately after the bind. */
    public static BoundFile at(Path path) {
        try {
            BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return new BoundFile(path, file.fileKey(), file.lastModifiedTime());
        } catch (IOException e) { // it is gone
            return new BoundFile(path, null, null);
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
        if (equals(at(path))) {
            Files.deleteIfExists(path);
        }
    }
}
