package dev.zmtp;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static java.util.Comparator.comparing;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Classes that know each other in a circle: from each of them, arrows lead to every other one and back. */
final class ClassCircles {

    private ClassCircles() {}

    /**
     * Returns the circles among the top-level classes of {@code packages}, the largest first: the full names of their
     * members. What a nested class knows counts for the class around it.
     *
     * @param packages as ArchUnit writes them, such as {@code dev.zmtp.codec..}
     */
    static List<Set<String>> in(JavaClasses classes, String... packages) {
        DescribedPredicate<JavaClass> inside = resideInAnyPackage(packages);
        Map<String, Set<String>> arrows = new TreeMap<>();
        for (JavaClass each : classes.that(inside)) {
            Set<String> known = arrows.computeIfAbsent(topLevel(each).getName(), name -> new TreeSet<>());
            knownBy(each)
                    .filter(inside)
                    .forEach(other -> known.add(topLevel(other).getName()));
        }
        return of(arrows);
    }

    /** Returns the circles of a graph, the largest first. What knows only itself is not a circle. */
    static List<Set<String>> of(Map<String, Set<String>> arrows) {
        Map<String, Set<String>> reached = new TreeMap<>();
        arrows.keySet().forEach(name -> reached.put(name, reachedFrom(name, arrows)));
        return reached.keySet().stream()
                .map(name -> circleOf(name, reached))
                .filter(circle -> circle.size() > 1)
                .distinct()
                .sorted(comparing(circle -> -circle.size()))
                .toList();
    }

    private static Set<String> circleOf(String name, Map<String, Set<String>> reached) {
        Set<String> circle = new TreeSet<>(reached.getOrDefault(name, Set.of()));
        circle.removeIf(other -> !reached.getOrDefault(other, Set.of()).contains(name));
        return circle;
    }

    private static Set<String> reachedFrom(String start, Map<String, Set<String>> arrows) {
        Set<String> reached = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            for (String next : arrows.getOrDefault(open.remove(), Set.of())) {
                if (reached.add(next)) {
                    open.add(next);
                }
            }
        }
        return reached;
    }

    /** ArchUnit does not read which classes a sealed one permits. */
    private static Stream<JavaClass> knownBy(JavaClass type) {
        Class<?>[] permitted = type.reflect().getPermittedSubclasses();
        return Stream.concat(
                type.getDirectDependenciesFromSelf().stream().map(Dependency::getTargetClass),
                type.getSubclasses().stream()
                        .filter(subclass ->
                                permitted != null && Arrays.stream(permitted).anyMatch(subclass::isEquivalentTo)));
    }

    private static JavaClass topLevel(JavaClass type) {
        return type.getEnclosingClass().map(ClassCircles::topLevel).orElse(type);
    }
}
