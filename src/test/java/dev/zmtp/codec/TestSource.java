package dev.zmtp.codec;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import dev.zmtp.testing.Failures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The source of a test, with everything of its class that it uses, and with what all classes use of {@link Failures}. */
final class TestSource {

    static final Path TESTS = Path.of("src/test/java");

    /** No plugins: to look for them in all jars of the tests takes longer than to parse. */
    private static final List<String> OPTIONS = List.of("-proc:none", "-processorpath", TESTS.toString());

    private static final Pattern WORD = Pattern.compile("\\w+");

    /** The members of each class that was asked about, by their names. */
    private static final Map<String, Map<String, String>> PARSED = new HashMap<>();

    /** All files, by their names. To list them takes longer than to parse one. */
    private static final Map<String, List<Path>> FILES = new HashMap<>();

    private TestSource() {}

    /** Returns the files of the classes with this name. */
    static synchronized List<Path> files(String type) throws IOException {
        if (FILES.isEmpty()) {
            try (Stream<Path> all = Files.walk(TESTS)) {
                FILES.putAll(all.collect(
                        Collectors.groupingBy(path -> path.getFileName().toString())));
            }
        }
        return FILES.getOrDefault(type + ".java", List.of());
    }

    static String of(String type, String method) throws IOException {
        Map<String, String> members = new HashMap<>(members("Failures"));
        members.putAll(members(type));
        StringBuilder source = new StringBuilder();
        Set<String> seen = new HashSet<>();
        Queue<String> open = new ArrayDeque<>(List.of(method));
        while (!open.isEmpty()) {
            String name = open.remove();
            String member = members.get(name);
            if (member != null && seen.add(name)) {
                source.append(member);
                WORD.matcher(member).results().forEach(word -> open.add(word.group()));
            }
        }
        return source.toString();
    }

    private static synchronized Map<String, String> members(String type) throws IOException {
        Map<String, String> members = PARSED.get(type);
        if (members == null) {
            members = new HashMap<>();
            for (Tree member : parse(type)) {
                members.merge(nameOf(member), member.toString(), String::concat);
            }
            PARSED.put(type, members);
        }
        return members;
    }

    private static String nameOf(Tree member) {
        if (member instanceof MethodTree method) {
            return method.getName().toString();
        }
        if (member instanceof VariableTree field) {
            return field.getName().toString();
        }
        return member instanceof ClassTree inner ? inner.getSimpleName().toString() : "";
    }

    private static List<Tree> parse(String type) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Tree> members = new ArrayList<>();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            List<Path> found = files(type);
            JavacTask task = (JavacTask)
                    compiler.getTask(null, manager, null, OPTIONS, null, manager.getJavaFileObjectsFromPaths(found));
            for (CompilationUnitTree unit : task.parse()) {
                for (Tree declared : unit.getTypeDecls()) {
                    if (declared instanceof ClassTree outer) {
                        members.addAll(outer.getMembers());
                    }
                }
            }
        }
        return members;
    }
}
