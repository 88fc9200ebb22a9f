package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pictures in the repository: what a clone has to fetch, and a reader to see. */
class CommittedPicturesTest {

    private static final Path PICTURES = Path.of("docs");
    private static final Pattern PICTURE = Pattern.compile("!\\[[^]]*]\\(([^)]+\\.(?:svg|png))\\)");
    private static final long MOST = 60_000;

    @Test
    void eachPictureIsSmall() throws IOException {
        assertThat(committed())
                .isNotEmpty()
                .allSatisfy(picture ->
                        assertThat(Files.size(picture)).as(picture.toString()).isLessThan(MOST));
    }

    @Test
    void aPageShowsEachPictureAndNoOther() throws IOException {
        Set<Path> shown = new TreeSet<>();
        for (Path page : pages()) {
            Matcher picture = PICTURE.matcher(Files.readString(page));
            while (picture.find()) {
                shown.add(page.resolveSibling(picture.group(1)).normalize());
            }
        }

        assertThat(shown).isEqualTo(committed());
    }

    private static Set<Path> committed() throws IOException {
        Set<Path> pictures = new TreeSet<>(found(PICTURES, ".svg"));
        pictures.addAll(found(PICTURES, ".png"));
        return pictures;
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(found(Path.of("docs"), ".md"));
        pages.add(Path.of("README.md"));
        pages.add(Path.of("benchmarks.md"));
        return pages;
    }

    private static List<Path> found(Path directory, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }
}
