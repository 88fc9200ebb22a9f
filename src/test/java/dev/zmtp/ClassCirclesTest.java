package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPLimiter;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClassCirclesTest {

    @Test
    void aCircleHasWhatLeadsToEachOtherAndBack() {
        Map<String, Set<String>> arrows = Map.of(
                "above", Set.of("above", "a", "x"),
                "a", Set.of("b"),
                "b", Set.of("c", "below"),
                "c", Set.of("a"),
                "x", Set.of("y", "a"),
                "y", Set.of("x"));

        assertThat(ClassCircles.of(arrows)).containsExactly(Set.of("a", "b", "c"), Set.of("x", "y"));
    }

    @Test
    void aSealedClassKnowsWhatItPermits() {
        JavaClasses limiters = new ClassFileImporter()
                .importClasses(ZMTPLimiter.class, ZMTPConnectionLimiter.class, ZMTPHandshakeLimiter.class);

        assertThat(ClassCircles.in(limiters, "dev.zmtp.codec"))
                .containsExactly(Set.of(
                        ZMTPLimiter.class.getName(),
                        ZMTPConnectionLimiter.class.getName(),
                        ZMTPHandshakeLimiter.class.getName()));
    }
}
